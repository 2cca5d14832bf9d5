// Package fakechatgpt is ChatGPT in a test: the scripted client of package
// chatgpt, with a test's manners. Whatever must not fail ends the test with a
// sentence, every answer is held against the published output schema, and every
// byte that went over the wire is kept, so that a test can search it.
//
// Contract: each Chat is one conversation. A Chat may be used by several
// goroutines; a Session belongs to one.
//
// Not covered: ChatGPT itself. How it behaves on the wire is what package
// chatgpt does.
package fakechatgpt
