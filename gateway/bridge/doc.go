// Package bridge serves one run's Claude Code: the Messages API, and the tool
// server over MCP, on one loopback listener. It turns model requests into
// offers and tool calls into calls, through two functions that it is given,
// and knows no gateway.
//
// Contract:
//   - Nothing is answered to a caller without the port's token (x-api-key for
//     the Messages API, a bearer token for MCP), to a request with an Origin,
//     or to one for another Host. Only HEAD /api/hello needs no token: Claude
//     Code sends none, and the answer says nothing.
//   - One question is offered once. The same question asked again, with or
//     without "stream", joins the pending offer or gets the same answer, with
//     the same message id and tool_use ids. A closed socket cancels nothing.
//   - A streamed question gets message_start at once and a ping every
//     PingInterval, one without stream gets white space before its JSON, a tool
//     call an event stream with comments, until the answer comes: for hours, if
//     need be.
//   - A model request that is no turn is refused at once with a 400, and
//     offered as TailOther so that the gateway knows. That, and any other
//     refusal, is the end of the run: no later request is answered or offered
//     (after a compaction that failed Claude Code would go on).
//   - Whatever usage Claude Code computes with is small and constant.
//
// # When two requests are the same question
//
// Digest covers every top-level member of the body, by name and byte for byte,
// but three: stream, max_tokens and thinking. Measured with Claude Code
// 2.1.247: a retry after a broken connection has the same bytes; the fallback
// after a stalled stream differs in "stream" alone (true, false), and its code
// also caps max_tokens at 64,000 and thinking.budget_tokens below that. These
// three say how an answer is delivered and how long it may be. All that says
// what is asked (messages, system, tools, model, temperature, output_config,
// metadata with the session's id, and whatever a newer version adds) is
// covered, so different questions have different digests. Numbers are not
// normalised: 1e2 and 100 count as different, which at worst refuses a turn
// and never answers a question with another's answer. Headers are left out:
// of these only X-Stainless-Timeout changes in the fallback, and
// X-Stainless-Retry-Count is 0 even in a retry.
//
// # What the end of a request is
//
// Measured with 2.1.247 in --bare: the first request of a run ends with a user
// message of text blocks, of which the last is standard input unchanged (line
// ends, white space and control characters included). In a new session a
// <system-reminder> block with the date stands before it; after --resume,
// also of a run that was killed, the message holds the prompt alone. After
// calls the last user message holds one tool_result a call; those of calls
// that ran at the same time stand in the order in which they ended (an offer
// names them in the order in which they were released). A question of Claude Code's own ("no visible output", compaction)
// puts one more text block behind the prompt or the results, or brings a
// message of its own, and side calls offer other tools or ask another model.
// Newer versions append messages of role system that are empty or hold
// reminders. Classify accepts exactly the former and nothing else.
//
// Not covered: who may answer what (the gateway checks a turn's sequence, the
// tool_use ids and each call again), and what is shown to ChatGPT.
package bridge
