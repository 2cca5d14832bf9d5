// Package demo shows what Deckhand does in under a minute: it starts a gateway
// as a process of its own with temporary state, plays ChatGPT towards it, lets
// the real Claude Code find, search and read in a real directory, kills the
// gateway between two turns, and goes on.
//
// Contract:
//   - Everything it prints comes from answers on the wire. The script decides
//     what to do next from what the results say.
//   - Each thing that has to be so is checked; the first that is not is Run's
//     error, in words.
//   - Whatever happens, also on a cancelled context, Run ends the sessions and
//     the gateway, makes sure that nothing of them runs, and removes its state.
//
// Not covered: ChatGPT's side of OAuth and tunnels; the demo uses the local
// listener and its token.
package demo
