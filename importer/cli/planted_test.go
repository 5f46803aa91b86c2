package cli

import (
	"bytes"
	"context"
	"net"
	"os"
	"os/signal"
	"slices"
	"sync"
	"syscall"
	"time"

	"claimsheet/apiclient"
	"claimsheet/importer"
	"claimsheet/importer/ledger"
)

// InstallTrial puts the bug that TRIAL_BUG names, and the pause of TRIAL_PAUSE, between the parts of this process's runs.
// TRIAL_LEASE is how long a session of its shared ledger may be silent.
func InstallTrial() {
	hooks.wrap = func(c net.Conn) net.Conn { return pausedConn{c} }
	hooks.silence, _ = time.ParseDuration(os.Getenv("TRIAL_LEASE"))
	hooks.job = func(j *importer.Job) {
		l := &buggyLedger{Ledger: j.Ledger, late: map[ledger.ClientKey][]ledger.Event{}}
		j.Ledger, j.Service = l, &buggyService{j.Service}
	}
}

// bug is a bug that TRIAL_BUG can plant.
type bug string

// The bugs.
const (
	intentAfterRequest bug = "intent written after the request"
	nothingBeforeEnd   bug = "nothing written before the end"
	outcomesAtEnd      bug = "outcomes written at the end"
	againAfterReset    bug = "sent again after a reset"
	againAfter500      bug = "sent again after a 500"
	refusedBy5xx       bug = "a 5xx taken for a refusal"
	doubtIsAnybodys    bug = "an address in doubt is anybody's"
)

func (b bug) planted() bool { return os.Getenv("TRIAL_BUG") == string(b) }

// buggyLedger has the bugs of a program that writes too late or reads too little.
type buggyLedger struct {
	importer.Ledger

	mu   sync.Mutex
	late map[ledger.ClientKey][]ledger.Event // events that a bug writes later
}

func (l *buggyLedger) Append(events ...ledger.Event) error {
	if now := l.spoilt(events); len(now) > 0 {
		return l.Ledger.Append(now...)
	}
	return nil
}

// spoilt returns what the bug has written of events, and of those that it has kept back before.
func (l *buggyLedger) spoilt(events []ledger.Event) (now []ledger.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	who := events[0].ClientKey
	all := slices.Concat(l.late[who], events)
	delete(l.late, who)
	last := len(all) - 1
	requestFollows := all[last].State == ledger.Sent // and then another Append
	for i, e := range all {
		switch {
		case requestFollows && (nothingBeforeEnd.planted() || intentAfterRequest.planted() && i == last || outcomesAtEnd.planted() && e.State == ledger.Done):
			l.late[who] = append(l.late[who], e)
			continue
		case doubtIsAnybodys.planted():
			e.Addresses, e.LookedUp = nil, nil
		}
		now = append(now, e)
	}
	return now
}

func (l *buggyLedger) AddressOwners(ctx context.Context, environment string, addresses []string) ([]ledger.AddressOwner, error) {
	if doubtIsAnybodys.planted() {
		return nil, nil
	}
	return l.Ledger.AddressOwners(ctx, environment, addresses)
}

// buggyService has the bugs of a program that sends again or misreads an answer.
type buggyService struct{ importer.Service }

func (s *buggyService) CreateReserved(ctx context.Context, slot *apiclient.Slot, r apiclient.Request) apiclient.Verdict {
	v := s.Service.CreateReserved(ctx, slot, r)
	for attempt := 1; attempt < 5 && sentAgain(v); attempt++ {
		slot, err := s.Reserve(ctx)
		if err != nil {
			break
		}
		v = s.Service.CreateReserved(ctx, slot, r)
	}
	if refusedBy5xx.planted() && v.Effect == apiclient.Uncertain && v.Status/100 == 5 {
		v.Effect = apiclient.Refused
	}
	return v
}

// sentAgain reports whether a bug sends a request again that may have worked.
func sentAgain(v apiclient.Verdict) bool {
	return v.Effect == apiclient.Uncertain && (againAfterReset.planted() && v.Status == 0 || againAfter500.planted() && v.Status == 500)
}

// pausedConn stops the process before it writes the request by which a client with the e-mail address TRIAL_PAUSE is created,
// until SIGCONT comes.
type pausedConn struct{ net.Conn }

func (c pausedConn) Write(p []byte) (int, error) {
	email := os.Getenv("TRIAL_PAUSE")
	if email != "" && bytes.HasPrefix(p, []byte("POST ")) && bytes.Contains(p, []byte(`"email":"`+email)) {
		self, err := os.FindProcess(os.Getpid())
		if err != nil {
			return 0, err
		}
		goesOn := make(chan os.Signal, 1)
		signal.Notify(goesOn, syscall.Signal(18)) // SIGCONT on Linux, where its test runs
		_ = self.Signal(syscall.Signal(19))       // SIGSTOP, which may reach another thread first
		<-goesOn
	}
	return c.Conn.Write(p)
}
