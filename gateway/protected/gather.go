package protected

import (
	"os"
	"slices"
)

// gatherable are folders that may be hidden as a whole when too many places in
// them are hidden one by one: no build needs them, since commands have a home of
// their own. In the order in which that is done.
var gatherable = []string{
	"~/.claude", "~/.docker", "~/.ollama", "~/.minikube", "~/.terraform.d", "~/.wrangler", "~/.vscode-server", "~/.config/Code", "~/.config/VSCodium", "~/.config/containers", "~/snap", "~/.var/app",
	"~/Library/Group Containers", "~/Library/Containers", "~/Library/Preferences",
	"/etc/ssh", "/etc/NetworkManager", "/etc/samba", "/etc/ipsec.d", "/etc/swanctl", "/etc/cups", "/var/backups", "/var/spool", "/var/lib/systemd", "/var/lib/samba",
	"~/.config",
}

// gatherable returns those of them that are there, by real path, but what holds
// the user's home or a folder of the PATH.
func (p *Paths) gatherable(s *survey) []string {
	var found []string
	for _, spelled := range gatherable {
		pattern, err := p.expand(spelled)
		if err != nil {
			panic(err) // the list above is fixed
		}
		real := s.resolve(unescapeGlob(pattern))
		info, err := os.Lstat(real)
		if err != nil || !info.IsDir() || s.holdsOwnHome(real) || ofTheSystem(real) {
			continue
		}
		if !slices.ContainsFunc(p.search, func(dir string) bool { return inside(dir, real) || inside(realPrefix(dir), real) }) {
			found = append(found, real)
		}
	}
	return found
}
