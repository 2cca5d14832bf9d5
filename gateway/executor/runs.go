package executor

import (
	"path/filepath"
	"slices"
	"strings"
)

// selfRunning are files that do something without anybody asking for it, by
// name, or by the end of a path where it holds a slash. A "*" stands for one
// name. All is compared in lower case.
var selfRunning = []struct {
	why   string
	paths []string
}{
	{"direnv runs it when somebody enters the folder", []string{".envrc"}},
	{"mise or asdf reads it when somebody enters the folder", []string{".mise.toml", "mise.toml", ".tool-versions"}},
	{"an editor may run its tasks when the folder is opened", []string{".vscode/tasks.json", ".zed/tasks.json", ".code-workspace"}},
	{"an editor runs programs that it names", []string{".vscode/settings.json", ".vscode/launch.json", ".idea/workspace.xml", ".vimrc", ".exrc", ".nvimrc", ".nvim.lua", ".dir-locals.el"}},
	{"a container that is built from it runs its commands", []string{"devcontainer.json", ".devcontainer.json"}},
	{"Git runs it as a hook", []string{".husky/*", ".husky/*/*", ".githooks/*", "git-hooks/*", "hooks/*"}},
	{"Git reads it and may run what it names", []string{".gitattributes", ".gitmodules"}},
	{"a Git hook runs what it names", []string{".pre-commit-config.yaml", ".pre-commit-config.yml", "lefthook.yml", "lefthook.yaml", ".lefthook.yml", ".overcommit.yml", ".lintstagedrc", ".lintstagedrc.json"}},
	{"its scripts run when packages are installed", []string{"package.json", ".npmrc", ".yarnrc", ".yarnrc.yml", ".pnpmfile.cjs", "setup.py", "composer.json"}},
	{"Python runs it by itself", []string{"sitecustomize.py", "usercustomize.py", "conftest.py"}},
	{"a build runs it", []string{"build.rs", ".cargo/config.toml", ".cargo/config", "gradle-wrapper.properties", "init.gradle"}},
	{"a coding assistant follows it", []string{"claude.md", "claude.local.md", "agents.md", "agents.override.md", "gemini.md", "copilot-instructions.md", ".cursorrules", ".windsurfrules", ".clinerules", ".cursor/rules/*"}},
	{"Claude Code runs or follows it", []string{".mcp.json", ".claude/settings.json", ".claude/settings.local.json", ".claude/agents/*", ".claude/commands/*", ".claude/skills/*", ".claude/skills/*/*", ".claude/hooks/*"}},
	{"a build server runs it after a push", []string{".github/workflows/*", ".github/actions/*/*", ".gitlab-ci.yml", ".circleci/config.yml", "azure-pipelines.yml", "bitbucket-pipelines.yml", "jenkinsfile", ".travis.yml"}},
}

// RunsByItself returns a remark, without a full stop, on a file that does
// something without anybody asking for it, "" for all others.
func RunsByItself(path string) string {
	lower := strings.Split(strings.ToLower(filepath.Clean(path)), "/")
	for _, group := range selfRunning {
		for _, p := range group.paths {
			if endsWith(lower, strings.Split(p, "/")) {
				return "the file takes effect by itself: " + group.why
			}
		}
	}
	return ""
}

// endsWith reports whether a path ends in the names of a pattern.
func endsWith(names, pattern []string) bool {
	if len(names) < len(pattern) {
		return false
	}
	return slices.EqualFunc(names[len(names)-len(pattern):], pattern, func(name, p string) bool { return p == "*" || p == name })
}
