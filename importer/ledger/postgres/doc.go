// Package postgres keeps a ledger in PostgreSQL.
package postgres
