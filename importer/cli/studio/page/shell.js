// @ts-check
// What is on every screen: the file and its verdict, the views, what was last said, and the command to copy.

import { OneClient } from './client.js';
import { Columns } from './columns.js';
import { OpenDialog } from './dialogs.js';
import { File } from './file.js';
import { Rows } from './grid.js';
import { Try } from './jobs.js';
import { dialog, listen, undoTyped, views } from './keys.js';
import { html, useEffect, useId, useState } from './lib.js';
import { isTyped } from './pending.js';
import { link, route } from './route.js';
import { Sheets } from './sheet.js';
import { away, draft, isJudged, notice, redo, reload, save, slow, state, targetNear } from './store.js';
import { Targets } from './targets.js';
import { Act, Copy } from './ui.js';
import { count, number } from './words.js';

/** @type {Record<string, any>} */
const screens = { columns: Columns, targets: Targets, rows: Rows, client: OneClient, file: File, try: Try, sheet: Sheets };

export function Shell() {
	useEffect(listen, []);
	const now = state.value;
	const name = screens[route.value.view] ? route.value.view : 'columns';
	const title = views.find(([view]) => view === name)?.[1];
	useEffect(() => { document.title = `${title}${now ? ` · ${now.mapping.path}` : ''} · Claimsheet Studio`; }, [title, now?.mapping.path]);
	useEffect(() => { document.querySelector('nav [aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' }); }, [name, Boolean(now)]);
	if (!now) return html`<main class="starting"><h1>Claimsheet Studio</h1>
		${notice.value ? html`<p class="bad-text" role="alert">${notice.value.text} <span class="faint">${notice.value.hint}</span></p>`
		: html`<p role="status">Reading the sheet …</p>`}</main>`;
	const Screen = screens[name];
	return html`<button type="button" class="skip" onClick=${() => document.getElementById('main')?.focus()}>To the content</button>
		<${Top} />
		<div class="menu"><nav aria-label="Views">
			<ul>${views.map(([view, words]) => html`<li key=${view}>
			<a href=${link(view)} aria-current=${view === name ? 'page' : undefined}>${words}<${Count} view=${view} /></a></li>`)}</ul></nav>
			<${Said} /></div>
		<${Notices} />
		<main id="main" tabindex="-1"><${Screen} key=${name} /></main>
		<${Command} />
		<${OpenDialog} />`;
}

/** The number beside a view's name: what waits there. @param {{view: string}} props */
function Count({ view }) {
	const now = /** @type {import('./types.js').State} */ (state.value);
	const [n, what] = /** @type {Record<string, [number, string]>} */ ({
		columns: [now.columns.filter((c) => !c.targets.length && !c.ignored && c.filled > 0).length, 'not decided'],
		targets: [now.targets.filter((t) => t.required && t.rule === null).length + now.mapping.questions.length, 'required or to decide'],
		rows: [now.judgement.errors, 'with errors'],
		file: [now.mapping.problems.length, 'to fix'],
	})[view] || [0, ''];
	return n ? html` <span class="badge" title=${`${number(n)} ${what}`}>${number(n)}<span class="hidden"> ${what}</span></span>` : null;
}

/** The file, the verdict, and undo, redo and save. */
function Top() {
	const { mapping, environment, judgement: j } = /** @type {import('./types.js').State} */ (state.value);
	const running = !j.stale && !j.error && !isJudged.value;
	const back = mapping.history[mapping.at], forward = mapping.history[mapping.at + 1];
	const canSave = mapping.dirty || isTyped.value, canUndo = mapping.at > 0 || isTyped.value;
	return html`<header class="top">
		<p class="brand">Claimsheet <b>Studio</b></p>
		<p class="which"><span class="code">${mapping.path}</span>
			${mapping.dirty || isTyped.value ? html`<span class="dirty">not saved</span>` : html`<span class="faint">${mapping.exists ? 'saved' : 'new'}</span>`}
			<span class="faint env">${environment || 'no environment'}</span></p>
		<p class="sum"><span role="status">${summary(j, running)}</span>
			${j.errors > 0 && html`<a href=${link('rows', { show: 'errors' })} class="bad-text">${number(j.errors)} with errors</a>`}
			${j.warnings.length > 0 && html`<a href=${link('rows', { show: 'warned' })} class="warn-text">${number(j.warnings.reduce((n, w) => n + w.count, 0))} to look at</a>`}
			${running && html`<progress aria-label="Rows read" max=${j.rows || 1} value=${j.done}></progress>`}</p>
		<p class="actions">
			<button type="button" data-again aria-disabled=${canUndo ? undefined : 'true'} onClick=${() => canUndo && undoTyped()} title=${back ? `Undo: ${back} (Ctrl+Z)` : 'Undo'}>Undo</button>
			<button type="button" data-again aria-disabled=${forward ? undefined : 'true'} onClick=${() => forward && redo()}
				title=${forward ? `Redo: ${forward} (Ctrl+Y)` : 'Redo'}>Redo</button>
			<button type="button" aria-haspopup="dialog" onClick=${() => { dialog.value = 'history'; }}>Changes</button>
			<button type="button" class="main" aria-disabled=${canSave ? undefined : 'true'} onClick=${() => canSave && save()} title="Ctrl+S">Save</button>
			<button type="button" class="quiet" aria-haspopup="dialog" aria-label="Keys" onClick=${() => { dialog.value = 'keys'; }}>?</button>
		</p>
	</header>`;
}

/** The verdict in a sentence. @param {import('./types.js').Judgement} j @param {boolean} running */
function summary(j, running) {
	if (j.error) return j.error;
	if (j.stale) return 'Not judged: the mapping has a mistake';
	if (running && j.done < j.rows) return `Judging ${number(j.done)} of ${number(j.rows)} rows`;
	if (running) return 'Finding the clients …';
	return [
		`${number(j.usable)} of ${count(j.rows - j.skipped, 'row')} usable`, j.skipped && `${number(j.skipped)} left out`,
		count(j.clients, 'client'), j.partial && 'without the rules that have mistakes',
	].filter(Boolean).join(' · ');
}

/** What was done last, beside the views, so that nothing moves. */
function Said() {
	const said = notice.value?.kind === 'said' ? notice.value : null;
	return html`<p class="said" role="status" title=${said?.text}>
		${slow.value ? 'Still waiting for Claimsheet …' : said && html`${said.text} ${said.hint && html`<span class="faint">${said.hint}</span>`}`}</p>`;
}

/** Why there is no news of the server, and what to do. */
const awayWords = {
	silent: 'Claimsheet does not answer; the page asks again every two seconds. What you did up to now is kept, and what you type stays '
		+ 'on this page. If Claimsheet has ended, start it again and open the link that it prints.',
	another: 'The Claimsheet that this page belongs to has ended, and another one was started. Open the link that it printed; '
		+ 'what you did up to now is offered there.',
	broken: 'Something went wrong inside Claimsheet; the page asks again every two seconds. The window in which you started it says more.',
};

/** What was refused, and what waits for an answer. */
function Notices() {
	const { mapping, judgement } = /** @type {import('./types.js').State} */ (state.value);
	const said = notice.value;
	return html`<div class="notices">
		<div role="alert">${said?.kind === 'refused'
			&& html`<p class="notice bad"><span>${said.text}</span> ${said.hint && html`<span>${said.hint}</span>`}
			${said.again && html`<button type="button" onClick=${said.again}>Try again</button>`}
			<button type="button" class="quiet" aria-label="Close this message" onClick=${() => { notice.value = null; }}>✕</button></p>`}
			${away.value && html`<p class="notice bad">${awayWords[away.value]}</p>`}</div>
		${judgement.stale && mapping.problems.length > 0 && html`<${Mistake} problem=${mapping.problems[0]} />`}
		<div role="alert">${mapping.onDisk !== 'same' && html`<p class="notice warn">
			${mapping.onDisk === 'gone' ? `${mapping.path} is gone from the disk.` : mapping.diskNote ? `${mapping.path}: ${mapping.diskNote}.` : `Another program changed ${mapping.path} meanwhile.`}
			${mapping.onDisk === 'changed' && html`<button type="button" aria-haspopup="dialog" onClick=${() => { dialog.value = 'disk'; }}>Look at the difference</button>
			<${Act} onAct=${() => reload()}>Take theirs<//>`}
			<${Act} onAct=${() => save(true)}>${mapping.onDisk === 'gone' ? 'Write mine again' : 'Keep mine'}<//></p>`}</div>
		${mapping.warnings.filter((w) => w.code === 'sheet-changed').map((w) => html`<p class="notice warn" role="status">${w.where}: ${w.message}${w.hint && html` <span>${w.hint}.</span>`}</p>`)}
		${mapping.draft && html`<p class="notice warn">Last time, changes were left unsaved${mapping.draftOld && ', and the file was changed since'}.
			<button type="button" aria-haspopup="dialog" onClick=${() => { dialog.value = 'draft'; }}>Look at the difference</button>
			<${Act} onAct=${() => draft(true)}>Take them up<//><${Act} onAct=${() => draft(false)}>Drop them<//></p>`}
	</div>`;
}

/** The mistake that keeps the mapping from being judged. @param {{problem: import('./types.js').Problem}} props */
function Mistake({ problem: p }) {
	const near = targetNear(p.path);
	return html`<p class="notice bad"><span>${p.message}</span>${near && html`<a href=${link('targets', { at: near })}>Fix it</a>`}
		${p.line && html`<a href=${link('file', { line: p.line })}>Line ${p.line} of the file</a>`}</p>`;
}

const commandNames = /** @type {[string, string][]} */ ([['check', 'Check'], ['dryRun', 'Dry run'], ['run', 'Run']]);

/** The command line that does the same as the page shows. */
function Command() {
	const { commands } = /** @type {import('./types.js').State} */ (state.value);
	const [name, setName] = useState('run');
	const id = useId();
	const text = commands[name] || '';
	return html`<footer class="command"><label for=${id} class="hidden">Command</label>
		<select id=${id} value=${name} onChange=${(/** @type {any} */ e) => setName(e.target.value)}>
		${commandNames.map(([key, words]) => html`<option value=${key}>${words}</option>`)}</select>
		<code>${text}</code><${Copy} text=${text} what="the command" /></footer>`;
}
