package control

import (
	"context"
)

// exchange is what the handlers of one request hand on to each other. It
// belongs to the goroutine of the request.
type exchange struct {
	body    []byte
	message *message
	// code is the code of the refusal that the call was answered with, if any.
	code string
}

type exchangeKey struct{}

func withExchange(ctx context.Context, x *exchange) context.Context {
	return context.WithValue(ctx, exchangeKey{}, x)
}

// exchangeFrom returns the exchange that observe put there.
func exchangeFrom(ctx context.Context) *exchange {
	return ctx.Value(exchangeKey{}).(*exchange)
}
