package control

import (
	"cmp"
	"context"
	"time"

	"deckhand/gateway/session"
	"deckhand/gateway/turn"
)

type startArgs struct {
	Prompt           string              `json:"prompt"`
	WorkingDirectory string              `json:"working_directory"`
	IdempotencyKey   turn.Key            `json:"idempotency_key"`
	Profile          turn.Profile        `json:"capability_profile"`
	SubagentPolicy   turn.SubagentPolicy `json:"subagent_policy"`
	Label            string              `json:"session_label"`
	Skills           []skillArgs         `json:"skill_contexts"`
	Wait             *float64            `json:"wait_seconds"`
}

type skillArgs struct {
	SkillID string  `json:"skill_id"`
	Content *string `json:"content"`
}

func startTool() *tool {
	return define("start", hints{idempotent: true},
		func(ctx context.Context, s *Server, h session.Holder, a startArgs) (session.Snapshot, error) {
			if err := checkPrompt(a.Prompt); err != nil {
				return session.Snapshot{}, err
			}
			skills := make([]session.SkillContext, len(a.Skills))
			for i, k := range a.Skills {
				skills[i] = session.SkillContext(k)
			}
			return s.engine.Start(ctx, session.StartRequest{
				Holder:           h,
				Prompt:           a.Prompt,
				WorkingDirectory: a.WorkingDirectory,
				IdempotencyKey:   a.IdempotencyKey,
				Profile:          cmp.Or(a.Profile, turn.ReadOnly),
				SubagentPolicy:   cmp.Or(a.SubagentPolicy, turn.NoSubagent),
				Label:            a.Label,
				Skills:           skills,
				Wait:             s.wait(a.Wait, 30*time.Second),
			})
		})
}

// checkPrompt counts bytes; the schema can only count characters.
func checkPrompt(prompt string) error {
	if len(prompt) > turn.MaxPrompt {
		return turn.Refuse(turn.TooLarge, "prompt has %d bytes; it takes at most %d", len(prompt), turn.MaxPrompt)
	}
	return nil
}
