package protected

// group is a set of paths with one reason. Paths begin with "~/" (the user's
// home), with "/" or with "**/" (a name at any depth); components may be globs.
type group struct {
	kind   Kind
	reason string
	// deep: see rule.
	deep  bool
	both  []string
	linux []string
	mac   []string
}

// table is every rule that does not depend on this machine.
var table = []group{
	{
		kind: Pseudo, reason: "it is a kernel or device file system, not a place for files",
		both:  []string{"/dev"},
		linux: []string{"/proc", "/sys", "/run/user"},
		mac:   []string{"/System/Volumes", "/.vol"},
	},

	// Hidden: keys and credentials.
	{
		kind: Hidden, deep: true, reason: "it holds SSH keys and settings",
		both: []string{"~/.ssh", "/etc/ssh/ssh_host_*_key", "/etc/dropbear"},
		mac:  []string{"/private/etc/ssh/ssh_host_*_key"},
	},
	{
		kind: Hidden, deep: true, reason: "it holds OpenPGP or signing keys",
		both: []string{"~/.gnupg", "~/.gnupg2", "~/.config/sops", "~/.config/age", "~/.age", "~/.minisign", "~/.signify", "~/.sigstore", "~/.config/sigstore", "~/.android/debug.keystore", "~/.android/adbkey", "~/.step"},
		mac:  []string{"~/Library/Application Support/sops", "~/.appstoreconnect", "~/.private_keys"},
	},
	{
		kind: Hidden, deep: true, reason: "it holds cloud credentials",
		both: []string{
			"~/.aws", "~/.azure", "~/.config/gcloud", "~/.boto", "~/.config/boto", "~/.oci", "~/.aliyun", "~/.bluemix",
			"~/.s3cfg", "~/.config/s3cmd", "~/.mc/config.json", "~/.mcli/config.json", "~/.kube", "~/.minikube/profiles", "~/.minikube/certs",
			"~/.terraformrc", "~/.terraform.d/credentials.tfrc.json", "~/.tofurc", "~/.config/opentofu", "~/.pulumi/credentials.json",
			"~/.vault-token", "~/.config/vault", "~/.consul-token", "~/.nomad-token", "~/.rclone.conf", "~/.config/rclone",
			"~/.config/gh", "~/.config/glab-cli", "~/.config/hub", "~/.config/tea", "~/.config/doctl", "~/.config/hcloud", "~/.config/linode-cli", "~/.config/scw",
			"~/.fly", "~/.heroku", "~/.config/heroku", "~/.wrangler/config", "~/.config/.wrangler", "~/.vercel", "~/.local/share/com.vercel.cli", "~/.config/netlify", "~/.netlify",
			"~/.config/railway", "~/.railway", "~/.supabase", "~/.config/stripe", "~/.snowflake", "~/.databrickscfg", "~/.config/snowflake", "~/.chef", "~/.ansible/galaxy_token",
			"/etc/kubernetes", "/etc/rancher", "/var/lib/kubelet",
		},
		mac: []string{"~/Library/Application Support/gcloud", "~/Library/Application Support/doctl", "~/Library/Application Support/com.vercel.cli", "~/Library/Preferences/netlify", "~/Library/Preferences/.wrangler", "~/Library/Preferences/rclone"},
	},
	{
		kind: Hidden, deep: true, reason: "it holds container registry credentials",
		both: []string{"~/.docker/config.json", "~/.docker/contexts", "~/.docker/machine", "~/.docker/trust", "~/.docker/*.pem", "~/.dockercfg", "~/.config/containers/auth.json", "~/.config/helm/registry", "~/.config/helm/repositories.yaml", "~/.helm"},
		mac:  []string{"~/Library/Preferences/helm", "~/Library/Group Containers/group.com.docker"},
	},
	{
		kind: Hidden, deep: true, reason: "it holds package registry credentials",
		both: []string{
			"~/.npmrc", "~/.config/npm/npmrc", "~/.yarnrc", "~/.yarnrc.yml", "~/.config/pnpm/rc", "~/.config/pnpm/auth.ini", "~/.bunfig.toml",
			"~/.pypirc", "~/.pip/pip.conf", "~/.config/pip", "~/.config/pypoetry", "~/.config/uv/credentials", "~/.local/share/uv/credentials", "~/.config/hatch", "~/.condarc", "~/.continuum",
			"~/.cargo/credentials", "~/.cargo/credentials.toml", "~/.gem/credentials", "~/.local/share/gem/credentials", "~/.bundle/config", "~/.config/bundler",
			"~/.m2/settings.xml", "~/.m2/settings-security.xml", "~/.gradle/gradle.properties", "~/.nuget/NuGet", "~/.config/NuGet", "~/.composer/auth.json", "~/.config/composer/auth.json", "~/.hex", "~/.pub-cache/credentials.json", "~/.config/dart", "~/.sbt/.credentials", "~/.ivy2/.credentials", "~/.lein/credentials.clj*",
		},
		mac: []string{"~/Library/Application Support/pypoetry", "~/Library/Application Support/pip", "~/Library/Preferences/pnpm", "~/Library/Application Support/dart"},
	},
	{
		kind: Hidden, deep: true, reason: "it holds passwords of databases, hosts or git remotes",
		both: []string{"~/.netrc", "~/_netrc", "~/.authinfo", "~/.authinfo.gpg", "~/.pgpass", "~/.pg_service.conf", "~/.my.cnf", "~/.mylogin.cnf", "~/.mongorc.js", "~/.dbshell", "~/.redisclirc", "~/.git-credentials", "~/.config/git/credentials", "~/.git-credential-cache", "~/.cache/git/credential", "~/.config/git-credential-oauth", "~/.wgetrc", "~/.curlrc", "~/.davfs2", "~/.smbcredentials", "~/.subversion/auth", "~/.config/filezilla", "~/.lftp", "~/.vnc", "~/.config/remmina", "~/.local/share/remmina", "~/.config/dbeaver", "~/.local/share/DBeaverData"},
		mac:  []string{"~/Library/DBeaverData", "~/Library/Application Support/com.tinyapp.TablePlus", "~/Library/Application Support/Sequel Ace"},
	},
	{
		kind: Hidden, reason: "it is a keychain or a keyring",
		linux: []string{"~/.local/share/keyrings", "~/.local/share/kwalletd", "~/.kde/share/apps/kwallet", "~/.gnome2/keyrings", "~/.pki", "~/.local/share/pki"},
		mac:   []string{"~/Library/Keychains", "/Library/Keychains", "/System/Library/Keychains", "~/Library/Accounts", "~/Library/IdentityServices", "/private/var/db/SystemKey", "/private/var/db/CoreDuet"},
	},
	{
		kind: Hidden, reason: "it is macOS's privacy database",
		mac: []string{"~/Library/Application Support/com.apple.TCC", "/Library/Application Support/com.apple.TCC"},
	},
	{
		kind: Hidden, deep: true, reason: "it belongs to a password manager",
		both:  []string{keepassRule, "~/.password-store", "~/.config/op", "~/.op", "~/.config/lpass", "~/.lpass", "~/.local/share/lpass", "~/.config/rbw", "~/.local/share/rbw", "~/.local/share/gopass", "~/.config/gopass"},
		linux: []string{"~/.config/1Password", "~/.config/Bitwarden", "~/.config/Bitwarden CLI", "~/.config/keepassxc", "~/.cache/keepassxc", "~/.config/Enpass", "~/.local/share/Enpass", "~/.config/Proton Pass", "~/.config/NordPass", "~/snap/bitwarden", "~/snap/1password", "~/snap/keepassxc", "~/.var/app/com.bitwarden.desktop", "~/.var/app/com.onepassword.OnePassword", "~/.var/app/org.keepassxc.KeePassXC"},
		mac:   []string{"~/Library/Application Support/1Password*", "~/Library/Group Containers/*.com.1password", "~/Library/Group Containers/*.com.agilebits", "~/Library/Containers/com.1password.*", "~/Library/Containers/com.agilebits.*", "~/Library/Application Support/Bitwarden*", "~/Library/Containers/com.bitwarden.desktop", "~/Library/Application Support/KeePassXC", "~/Library/Application Support/Dashlane", "~/Library/Containers/com.dashlane.*", "~/Library/Containers/in.sinew.*", "~/Library/Application Support/Proton Pass", "~/Library/Application Support/NordPass", "~/Library/Application Support/LastPass", "~/Library/Passwords"},
	},
	{
		kind: Hidden, reason: "it is a browser's profile, with cookies and saved passwords",
		linux: []string{
			"~/.mozilla", "~/.config/mozilla", "~/.cache/mozilla", "~/.librewolf", "~/.config/librewolf", "~/.waterfox", "~/.zen", "~/.floorp", "~/.tor-browser", "~/.local/share/torbrowser",
			"~/.config/google-chrome*", "~/.cache/google-chrome*", "~/.config/chromium", "~/.cache/chromium", "~/.config/BraveSoftware", "~/.cache/BraveSoftware", "~/.config/microsoft-edge*", "~/.cache/microsoft-edge*", "~/.config/vivaldi*", "~/.cache/vivaldi*", "~/.config/opera*", "~/.cache/opera*", "~/.config/yandex-browser*", "~/.config/Thorium", "~/.config/qutebrowser", "~/.local/share/qutebrowser", "~/.local/share/epiphany", "~/.config/epiphany", "~/.config/falkon", "~/.local/share/falkon",
			"~/snap/firefox", "~/snap/chromium", "~/snap/brave", "~/snap/opera", "~/.var/app/org.mozilla.*", "~/.var/app/com.google.Chrome*", "~/.var/app/org.chromium.*", "~/.var/app/com.brave.*", "~/.var/app/com.microsoft.Edge*", "~/.var/app/com.vivaldi.*", "~/.var/app/com.opera.*", "~/.var/app/io.gitlab.librewolf-community", "~/.var/app/app.zen_browser.zen", "~/.var/app/org.gnome.Epiphany",
		},
		mac: []string{
			"~/Library/Safari", "~/Library/Cookies", "~/Library/HTTPStorages", "~/Library/WebKit", "~/Library/Containers/com.apple.Safari*", "~/Library/Caches/com.apple.Safari*",
			"~/Library/Application Support/Firefox*", "~/Library/Application Support/LibreWolf", "~/Library/Application Support/Waterfox", "~/Library/Application Support/zen", "~/Library/Application Support/TorBrowser-Data", "~/Library/Caches/Firefox", "~/Library/Application Support/Google", "~/Library/Caches/Google", "~/Library/Application Support/Chromium", "~/Library/Caches/Chromium", "~/Library/Application Support/BraveSoftware", "~/Library/Caches/BraveSoftware", "~/Library/Application Support/Microsoft Edge*", "~/Library/Caches/Microsoft Edge*", "~/Library/Application Support/Vivaldi", "~/Library/Application Support/com.operasoftware.*", "~/Library/Application Support/Arc", "~/Library/Application Support/Dia", "~/Library/Application Support/Orion*", "~/Library/Application Support/Yandex", "~/Library/Application Support/DuckDuckGo", "~/Library/Containers/com.duckduckgo.*", "~/Library/Application Support/com.openai.atlas*", "~/Library/Application Support/Comet",
		},
	},
	{
		kind: Hidden, deep: true, reason: "it holds credentials or transcripts of an AI assistant",
		both: []string{
			"~/.claude/.credentials.json", "~/.claude/projects", "~/.claude/history.jsonl", "~/.claude/file-history", "~/.claude/shell-snapshots", "~/.claude/paste-cache", "~/.claude/backups", "~/.claude.json*", "~/.config/claude", "~/.anthropic", "~/.config/anthropic",
			"~/.codex", "~/.openai", "~/.config/openai", "~/.gemini", "~/.config/gemini", "~/.copilot", "~/.config/github-copilot", "~/.cursor", "~/.qwen", "~/.grok", "~/.kimi", "~/.config/goose", "~/.local/share/opencode", "~/.config/opencode", "~/.aider*", "~/.continue", "~/.codeium",
			"~/.ollama/id_*", "~/.huggingface", "~/.cache/huggingface/token", "~/.cache/huggingface/stored_tokens", "~/.kaggle", "~/.config/kaggle", "~/.config/wandb", "~/.replicate",
		},
		linux: []string{"~/.config/Claude*", "~/.config/ChatGPT*", "~/.config/chatgpt*", "~/.config/Cursor", "~/.config/Code/User/globalStorage", "~/.config/VSCodium/User/globalStorage", "~/.vscode-server/data"},
		mac:   []string{"~/Library/Application Support/Claude*", "~/Library/Application Support/com.openai.*", "~/Library/Application Support/OpenAI", "~/Library/Application Support/ChatGPT*", "~/Library/Containers/com.openai.*", "~/Library/Group Containers/*.com.openai.*", "~/Library/Application Support/Cursor", "~/Library/Application Support/Code/User/globalStorage", "~/Library/Application Support/VSCodium/User/globalStorage", "~/Library/Caches/claude-cli-nodejs"},
	},
	{
		kind: Hidden, deep: true, reason: "it holds credentials of a tunnel or a private network",
		both:  []string{"~/.cloudflared", "~/.ngrok", "~/.ngrok2", "~/.config/ngrok", "~/.tunnel-client", "~/.config/tunnel-client", "~/.local/share/tailscale", "~/.config/tailscale", "~/.zrok", "~/.frp", "/etc/cloudflared", "/usr/local/etc/cloudflared", "/etc/wireguard", "/usr/local/etc/wireguard", "/opt/homebrew/etc/wireguard", "/etc/openvpn"},
		linux: []string{"/var/lib/tailscale", "/var/lib/zerotier-one", "/var/lib/cloudflared", "/etc/NetworkManager/system-connections", "/etc/netplan", "/etc/wpa_supplicant", "/var/lib/iwd", "/var/lib/bluetooth", "/etc/ppp", "/etc/ipsec.secrets", "/etc/ipsec.d/private", "/etc/swanctl/private"},
		mac:   []string{"~/Library/Application Support/ngrok", "~/Library/Application Support/tunnel-client", "~/Library/Containers/io.tailscale.*", "~/Library/Group Containers/*.io.tailscale.*", "/Library/Tailscale", "/private/var/db/tailscale", "/Library/Application Support/ZeroTier", "~/Library/Containers/com.wireguard.macos", "/private/etc/ppp", "/private/etc/racoon"},
	},
	{
		kind: Hidden, deep: true, reason: "it is a history of commands or edits, which often holds passwords",
		both: []string{
			"~/.*_history", "~/.*-history", "~/.history", "~/.histfile", "~/.zhistory", "~/.sh_history", "~/.bash_sessions", "~/.zsh_sessions", "~/.zdotdir/.zsh_history", "~/.config/zsh/.zsh_history", "~/.config/zsh/history", "~/.local/state/bash", "~/.local/state/zsh", "~/.local/share/zsh/history", "~/.local/share/bash", "~/.local/share/fish/*_history", "~/.config/fish/fish_history", "~/.local/share/atuin", "~/.local/share/mcfly", "~/.config/nushell/history.*", "~/.local/share/powershell", "~/.lesshst", "~/.viminfo", "~/.local/state/nvim/shada", "~/.local/share/nvim/shada", "~/.local/state/python_history", "~/.ipython/profile_*/history.sqlite", "~/.local/share/recently-used.xbel", "~/.rediscli_history",
		},
		mac: []string{"~/Library/Application Support/nushell/history.*", "~/Library/Application Support/mcfly"},
	},
	{
		kind: Hidden, reason: "it holds mail, messages, contacts or calendars",
		both:  []string{"~/.mail", "~/Mail", "~/Maildir", "~/.maildir", "~/mbox", "~/.mutt", "~/.muttrc", "~/.config/mutt", "~/.config/neomutt", "~/.neomuttrc", "~/.mbsyncrc", "~/.config/isync*", "~/.msmtprc", "~/.config/msmtp", "~/.offlineimaprc", "~/.config/offlineimap", "~/.fetchmailrc", "~/.getmail", "~/.config/aerc", "~/.config/himalaya", "~/.weechat", "~/.config/weechat", "~/.local/share/weechat", "~/.irssi", "~/.purple"},
		linux: []string{"~/.thunderbird", "~/snap/thunderbird", "~/.var/app/org.mozilla.Thunderbird", "~/.local/share/evolution", "~/.config/evolution", "~/.cache/evolution", "~/.local/share/geary", "~/.config/geary", "~/.local/share/kmail2", "~/.local/share/akonadi", "~/.local/share/local-mail", "~/.claws-mail", "~/.config/Signal", "~/.config/Slack", "~/.config/discord*", "~/.config/Element", "~/.config/Microsoft", "~/.config/teams*", "~/.config/WhatsApp*", "~/.local/share/TelegramDesktop", "~/.local/share/gajim", "~/.local/share/dino", "~/.config/Beeper*", "~/snap/signal-desktop", "~/snap/slack", "~/snap/discord", "~/snap/telegram-desktop", "~/.var/app/org.signal.Signal", "~/.var/app/com.slack.Slack", "~/.var/app/com.discordapp.Discord", "~/.var/app/org.telegram.desktop", "/var/mail", "/var/spool/mail", "/var/spool/postfix", "/var/spool/exim4"},
		mac:   []string{"~/Library/Mail", "~/Library/Mail Downloads", "~/Library/Messages", "~/Library/Calendars", "~/Library/Reminders", "~/Library/CallServices", "~/Library/Application Support/AddressBook", "~/Library/Application Support/CallHistory*", "~/Library/Application Support/MobileSync", "~/Library/Application Support/Knowledge", "~/Library/Containers/com.apple.mail", "~/Library/Containers/com.apple.MobileSMS", "~/Library/Containers/com.apple.Notes", "~/Library/Containers/com.apple.iChat", "~/Library/Group Containers/group.com.apple.*", "~/Library/Thunderbird", "~/Library/Application Support/Signal", "~/Library/Application Support/Slack", "~/Library/Containers/com.tinyspeck.*", "~/Library/Application Support/discord*", "~/Library/Application Support/Element", "~/Library/Application Support/Microsoft", "~/Library/Containers/com.microsoft.*", "~/Library/Group Containers/*.Office", "~/Library/Application Support/Telegram*", "~/Library/Group Containers/*.ru.keepcoder.Telegram", "~/Library/Containers/net.whatsapp.*", "~/Library/Group Containers/group.net.whatsapp.*", "~/Library/Application Support/Beeper*", "~/Library/Biome", "~/Library/Suggestions", "~/Library/Metadata/CoreSpotlight", "/private/var/mail", "/private/var/spool/postfix"},
	},
	{
		kind: Hidden, deep: true, reason: "it holds accounts, password hashes or private keys of this computer",
		both:  []string{"/etc/sudoers", "/etc/sudoers.d", "/etc/krb5.keytab", "/etc/ssl/private", "/etc/letsencrypt", "~/.config/letsencrypt", "~/.lego", "~/.caddy", "~/.local/share/caddy", "~/.local/share/mkcert"},
		linux: []string{"/etc/shadow*", "/etc/gshadow*", "/etc/security/opasswd*", "/etc/.pwd.lock", "/var/backups/shadow*", "/var/backups/gshadow*", "/etc/pki/tls/private", "/etc/pki/private", "/var/lib/sss", "/var/lib/private", "/var/lib/systemd/random-seed", "/var/lib/systemd/credential.secret", "/etc/credstore", "/etc/credstore.encrypted", "/var/lib/fprint", "/var/lib/samba/private", "/etc/samba/*credentials*", "/etc/docker/key.json", "/tmp/krb5cc_*", "/var/tmp/krb5cc_*", "/etc/cups/ssl", "/etc/crypttab.d", "/etc/luks", "/run/secrets", "/run/credentials", "/run/systemd/ask-password"},
		mac:   []string{"/private/etc/master.passwd*", "/private/etc/sudoers", "/private/etc/sudoers.d", "/private/etc/krb5.keytab", "/private/etc/ssl/private", "/private/etc/letsencrypt", "/private/etc/kubernetes", "/private/etc/wireguard", "/private/etc/openvpn", "/private/etc/cloudflared", "/private/var/db/dslocal", "/private/var/db/shadow", "/private/var/db/krb5kdc", "/private/tmp/krb5cc_*", "~/Library/Application Support/mkcert", "~/Library/Application Support/Caddy"},
	},
	{
		kind: Hidden, reason: "it holds older copies of files, also of those that are hidden",
		both:  []string{"/.snapshots", "~/.snapshots"},
		linux: []string{"/home/.snapshots", "/timeshift"},
		mac:   []string{"/Volumes/.timemachine", "/Volumes/com.apple.TimeMachine.localsnapshots", "/.MobileBackups"},
	},
	{
		kind: Hidden, reason: "it is an image of memory",
		both:  []string{coreRule},
		linux: []string{"/swapfile", "/swap.img", "/swap", "/hibfil.sys", "/var/swap", "/var/lib/systemd/coredump", "/var/crash", "/var/lib/apport/coredump", "/var/spool/abrt", "/var/cache/abrt-di"},
		mac:   []string{"/cores", "/private/var/vm", "/Library/Logs/DiagnosticReports", "~/Library/Logs/DiagnosticReports"},
	},
	{
		kind: Hidden, reason: "it is the inside of a Git repository",
		both: []string{GitRule},
	},
	{
		kind: Hidden, reason: "it is an environment file, which usually holds secrets; .env.example, .env.sample and .env.template can be read",
		both: []string{envRule, envRules},
	},

	// Readable, never writable: what runs by itself, outside any sandbox.
	{
		kind: ReadOnly, reason: "a shell runs or reads it at every start",
		both: []string{"~/.profile", "~/.bashrc", "~/.bash_profile", "~/.bash_login", "~/.bash_logout", "~/.bash_aliases", "~/.bash_completion", "~/.zshrc", "~/.zshenv", "~/.zprofile", "~/.zlogin", "~/.zlogout", "~/.config/zsh", "~/.oh-my-zsh", "~/.zsh", "~/.kshrc", "~/.mkshrc", "~/.cshrc", "~/.tcshrc", "~/.login", "~/.logout", "~/.config/fish", "~/.config/nushell", "~/.config/powershell", "~/.config/starship.toml", "~/.inputrc", "~/.config/direnv", "~/.direnvrc", "~/.config/mise", "~/.tool-versions", "~/.asdfrc"},
		mac:  []string{"~/Library/Application Support/nushell"},
	},
	{
		kind: ReadOnly, reason: "the desktop or the system starts what it names by itself",
		linux: []string{"~/.config/autostart", "~/.config/autostart-scripts", "~/.config/plasma-workspace", "~/.config/systemd", "~/.local/share/systemd", "~/.config/environment.d", "~/.pam_environment", "~/.xprofile", "~/.xinitrc", "~/.xsession", "~/.xsessionrc", "~/.Xsession", "~/.config/openbox", "~/.config/i3", "~/.config/sway", "~/.config/hypr", "~/.config/upstart", "~/.local/share/applications", "~/.local/share/dbus-1", "~/.config/mimeapps.list", "~/.local/share/gnome-shell", "~/.local/share/nautilus/scripts", "~/.config/udiskie", "/var/spool/cron", "/var/spool/at", "/var/spool/incron"},
		mac:   []string{"~/Library/LaunchAgents", "/Library/LaunchAgents", "/Library/LaunchDaemons", "/Library/StartupItems", "~/Library/Application Scripts", "~/Library/Services", "~/Library/Workflows", "~/Library/Automator", "~/Library/Scripts", "~/Library/PreferencePanes", "~/Library/QuickLook", "~/Library/Spotlight", "~/Library/Internet Plug-Ins", "~/Library/Input Methods", "~/Library/Preferences", "~/Library/Frameworks", "~/Library/Python", "~/.launchd.conf", "~/.hammerspoon", "~/.config/skhd", "~/.config/yabai", "~/.config/karabiner", "/private/var/at", "/private/var/spool/cron", "/private/var/cron"},
	},
	{
		kind: ReadOnly, reason: "programs are started from it",
		both:  []string{"~/bin", "~/.bin", "~/.local/bin", "~/.local/lib", "~/go/bin", "~/.cargo/bin", "~/.cargo/config", "~/.cargo/config.toml", "~/.cargo/env", "~/.rustup", "~/.npm-global", "~/.npm-packages", "~/.nvm", "~/.volta", "~/.fnm", "~/.local/share/fnm", "~/.local/share/mise", "~/.asdf", "~/.pyenv", "~/.rbenv", "~/.rvm", "~/.sdkman", "~/.jenv", "~/.deno/bin", "~/.bun/bin", "~/.bun/install/global", "~/.local/share/claude", "~/.local/share/pnpm", "~/.yarn/bin", "~/.config/yarn/global", "~/.poetry/bin", "~/.local/share/uv/tools", "~/.local/pipx", "~/.local/share/pipx", "~/.composer/vendor/bin", "~/.config/composer/vendor/bin", "~/.dotnet/tools", "~/.nix-profile", "~/.nix-defexpr", "~/.local/state/nix", "~/.krew", "~/.docker/cli-plugins", "~/.terraform.d/plugins", "~/.linuxbrew", "/home/linuxbrew/.linuxbrew", "/opt/homebrew", "/usr/bin", "/usr/sbin", "/usr/lib", "/usr/libexec", "/usr/local/bin", "/usr/local/sbin", "/usr/local/lib", "/usr/local/libexec", "/bin", "/sbin", "/nix"},
		linux: []string{"/usr/lib32", "/usr/lib64", "/usr/libx32", "/usr/games", "/usr/local/games", "/lib", "/lib32", "/lib64", "/libx32", "/snap", "/var/lib/flatpak", "/var/lib/snapd"},
		mac:   []string{"/Applications", "~/Applications", "/Library/Developer", "~/Library/pnpm", "~/Library/Application Support/fnm", "~/Library/Application Support/pipx"},
	},
	{
		kind: ReadOnly, reason: "it belongs to the system",
		linux: []string{"/boot", "/etc", "/var/lib/dpkg", "/var/lib/rpm"},
		mac:   []string{"/System", "/Library", "/private/etc", "/private/var/db"},
	},
	{
		kind: ReadOnly, reason: "a program runs commands that it names",
		both: []string{"~/.gitconfig", "~/.config/git", "~/.hgrc", "~/.config/hg", "~/.config/jj", "~/.vimrc", "~/.vim", "~/.config/nvim", "~/.local/share/nvim", "~/.exrc", "~/.emacs", "~/.emacs.d", "~/.config/emacs", "~/.config/doom", "~/.tmux.conf", "~/.tmux", "~/.config/tmux", "~/.screenrc", "~/.gdbinit", "~/.config/gdb", "~/.lldbinit", "~/.pythonrc", "~/.pystartup", "~/.ipython", "~/.jupyter", "~/.irbrc", "~/.pryrc", "~/.Rprofile", "~/.Renviron", "~/.julia/config", "~/.ghci", "~/.ackrc", "~/.ripgreprc", "~/.config/ripgrep", "~/.gradle/init.gradle", "~/.gradle/init.d", "~/.m2/extensions.xml", "~/.sbt", "~/.config/pre-commit", "~/.pre-commit-config.yaml", "~/.forward", "~/.procmailrc", "~/.vscode/extensions", "~/.vscode/argv.json", "~/.config/Code/User", "~/.config/VSCodium/User", "~/.config/zed", "~/.claude", "~/.mcp.json", "~/.config/containers", "~/.docker", "~/.config/alacritty", "~/.config/kitty", "~/.config/wezterm", "~/.wezterm.lua", "~/.config/ghostty", "~/.bazelrc", "~/.config/nix", "~/.config/home-manager", "~/.config/nixpkgs", "~/.gemrc", "~/.config/user-tmpfiles.d", "~/.local/share/user-tmpfiles.d", "~/.XCompose", "~/.config/mpv", "~/.config/pypoetry"},
		mac:  []string{"~/Library/Application Support/Code/User", "~/Library/Application Support/VSCodium/User", "~/Library/Application Support/iTerm2", "~/Library/Application Support/Sublime Text*", "~/Library/Application Support/JetBrains"},
	},
}
