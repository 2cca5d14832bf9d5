module deckhand

go 1.26
