// @ts-check
// What is on every screen: the file and its verdict, the views, what was last said, and the command to copy.

import { OneClient } from './client.js';
import { Columns } from './columns.js';
import { File } from './file.js';
import { Rows } from './grid.js';
import { Try } from './jobs.js';
import { html, useEffect } from './lib.js';
import { link, route } from './route.js';
import { Sheet } from './sheet.js';
import { away, current, goTo, isTyped, notice, redo, reload, save, say, state, undo } from './store.js';
import { Targets } from './targets.js';
import { Act, arrows, Problems } from './ui.js';
import { count, number } from './words.js';

/** The views in their order. @type {[string, string, any][]} */
const views = [
	['columns', 'Columns', Columns], ['targets', 'Fields of the service', Targets], ['rows', 'Rows', Rows], ['client', 'One client', OneClient],
	['try', 'Try it', Try], ['file', 'The file', File], ['sheet', 'The sheet', Sheet],
];

export function Shell() {
	const path = state.value?.mapping.path, [name, title, Screen] = views.find(([view]) => view === route.value.view) || views[0];
	useEffect(() => {
		document.title = [title, path, 'Claimsheet Studio'].filter(Boolean).join(' · ');
		document.querySelector('nav [aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
	}, [name, path]);
	if (!state.value) return html`<main class="starting"><h1>Claimsheet Studio</h1>
		${notice.value ? html`<p class="bad-text" role="alert">${notice.value.text} <span class="faint">${notice.value.hint}</span></p>`
		: html`<p role="status">Reading the sheet …</p>`}</main>`;
	const said = notice.value?.kind === 'said' ? notice.value.text : '';
	return html`<button type="button" class="skip" onClick=${() => document.getElementById('main')?.focus()}>To the content</button>
		<${Top} />
		<div class="menu"><nav aria-label="Views"><ul>${views.map(([view, words]) => html`<li key=${view}>
			<a href=${link(view)} aria-current=${view === name ? 'page' : undefined}>${words}<${Count} view=${view} /></a></li>`)}</ul></nav>
			<p class="said" role="status" title=${said}>${said}</p></div>
		<${Notices} />
		<main id="main" tabindex="-1"><${Screen} key=${name} /></main>
		<${Command} />
		<${History} />`;
}

/** The number beside a view's name: what waits there. @param {{view: string}} props */
function Count({ view }) {
	const { columns, targets, mapping, judgement } = current();
	const [n, what] = /** @type {Record<string, [number, string]>} */ ({
		columns: [columns.filter((c) => !c.targets.length && !c.ignored && c.filled > 0).length, 'not decided'],
		targets: [targets.filter((t) => t.required && t.rule === null).length + mapping.questions.length, 'required or to decide'],
		rows: [judgement.errors, 'with errors'],
		file: [mapping.problems.length, 'to fix'],
	})[view] || [0, ''];
	return n > 0 && html` <span class="badge" title=${`${number(n)} ${what}`}>${number(n)}<span class="hidden"> ${what}</span></span>`;
}

/** The file, the verdict, and undo, redo and save. */
function Top() {
	const { mapping, environment, judgement: j } = current();
	const isRunning = !j.stale && !j.error && !j.complete, isUnsaved = mapping.dirty || isTyped.value;
	const back = mapping.history[mapping.at], forward = mapping.history[mapping.at + 1];
	/** @param {boolean} isOn @param {() => any} act @param {string} words @param {string} title */
	const button = (isOn, act, words, title) => html`<button type="button" class=${words === 'Save' ? 'main' : ''}
		aria-disabled=${isOn ? undefined : 'true'} onClick=${() => isOn && act()} title=${title}>${words}</button>`;
	return html`<header class="top">
		<p class="brand">Claimsheet <b>Studio</b></p>
		<p class="which"><span class="code">${mapping.path}</span>
			<span class=${isUnsaved ? 'dirty' : 'faint'}>${isUnsaved ? 'not saved' : mapping.exists ? 'saved' : 'new'}</span>
			<span class="faint env">${environment || 'no environment'}</span></p>
		<p class="sum"><span role="status">${summary(j, isRunning)}</span>
			${j.errors > 0 && html`<a href=${link('rows', { show: 'errors' })} class="bad-text">${number(j.errors)} with errors</a>`}
			${isRunning && html`<progress aria-label="Rows read" max=${j.rows || 1} value=${j.done}></progress>`}</p>
		<p class="actions">
			${button(mapping.at > 0 || isTyped.value, undo, 'Undo', back ? `Undo: ${back} (Ctrl+Z)` : 'Undo')}
			${button(Boolean(forward), redo, 'Redo', forward ? `Redo: ${forward} (Ctrl+Y)` : 'Redo')}
			<button type="button" commandfor="history" command="show-modal">Changes</button>
			${button(isUnsaved, () => save(), 'Save', 'Ctrl+S')}
		</p>
	</header>`;
}

/** The verdict in a sentence. @param {import('./types.js').Judgement} j @param {boolean} isRunning */
function summary(j, isRunning) {
	if (j.error) return j.error;
	if (j.stale) return 'Not judged: the mapping has a mistake';
	if (isRunning) return j.done < j.rows ? `Judging ${number(j.done)} of ${number(j.rows)} rows` : 'Finding the clients …';
	return [`${number(j.usable)} of ${count(j.rows - j.skipped, 'row')} usable`, j.skipped && `${number(j.skipped)} left out`,
		count(j.clients, 'client'), j.partial && 'without the rules that have mistakes'].filter(Boolean).join(' · ');
}

/** What was refused, and what waits for an answer. */
function Notices() {
	const { mapping, judgement } = current();
	const refused = notice.value?.kind === 'refused' ? notice.value : null;
	return html`<section class="notices" aria-label="Messages">
		<div role="alert">
			${refused && html`<p class="notice bad"><span>${refused.text}</span> ${refused.hint && html`<span>${refused.hint}</span>`}
				<button type="button" class="quiet" aria-label="Close this message" onClick=${() => { notice.value = null; }}>✕</button></p>`}
			${away.value && html`<p class="notice bad">Claimsheet does not answer this page, which asks again every two seconds. What you did up to now
				${' '}is kept, and what you type stays here. Look at the window in which you started it; if it has ended, start it again and open the link
				${' '}that it prints.</p>`}</div>
		${judgement.stale && html`<div class="notice bad"><${Problems} list=${mapping.problems.slice(0, 1)} /></div>`}
		<div role="alert">${mapping.diskNote && html`<p class="notice warn">${mapping.path}: ${mapping.diskNote}.
			<${Act} onAct=${reload}>Take theirs<//><${Act} onAct=${() => save(true)}>Keep mine<//>
			<span>“Take theirs” can be undone; “The file” shows then what is different.</span></p>`}</div>
		${mapping.draft && html`<p class="notice warn">These changes were left unsaved last time. Undo takes them away.</p>`}
	</section>`;
}

/** The command line that does the same as the page shows. */
function Command() {
	const { command } = current();
	const copy = () => navigator.clipboard.writeText(command).then(() => say('Copied the command.'),
		() => say('The browser does not allow copying; select the text instead.'));
	return html`<footer class="command"><code>${command}</code>
		<button type="button" class="quiet" onClick=${copy} aria-label="Copy the command">Copy</button></footer>`;
}

/** The changes of this session as a dialog, which the browser opens and closes; each leads back, or forward again, to itself. */
function History() {
	const { history, at } = current().mapping;
	return html`<dialog id="history" aria-labelledby="history-title" closedby="any">
		<header><h2 id="history-title">Changes of this session</h2>
			<button type="button" class="quiet" aria-label="Close" commandfor="history" command="close">✕</button></header>
		<div class="dialog-body">
			<p class="faint">Choose a line to go back to it, or forward again. What is undone stays in the list until you change something else.</p>
			<ol class="history" onKeyDown=${arrows('li button')}>${history.map((label, n) => html`<li key=${n} class=${n > at ? 'undone' : ''}>
				<button type="button" aria-current=${n === at ? 'step' : undefined} onClick=${() => n !== at && goTo(n)}>${label}</button></li>`)}</ol>
		</div>
	</dialog>`;
}
