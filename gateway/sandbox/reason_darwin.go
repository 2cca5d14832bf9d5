package sandbox

const unsupportedReason = "on macOS Claude Code is confined by a Seatbelt profile, which is not part of this build yet, and nothing runs unconfined"
