// @ts-check
// Trying it: a dry run of the whole sheet, and a run into the sandbox. A run into a real environment is a command, never a button.

import { html } from './lib.js';
import { cancelJob, startJob, state } from './store.js';
import { Problems } from './ui.js';
import { count, number, plainWords } from './words.js';

/** @typedef {import('./types.js').Job} Job */

const kinds = { 'dry-run': 'Dry run', sandbox: 'Run into the sandbox' };

export function Try() {
	const now = /** @type {import('./types.js').State} */ (state.value);
	const job = now.job;
	const running = job?.state === 'running';
	const mistakes = now.mapping.problems.length, { warnings } = now.mapping;
	return html`<section class="list" aria-labelledby="view-title">
		<header class="tools"><h1 id="view-title">Try it <span class="faint">nothing is sent to a real service from here</span></h1></header>
		<div class="scroll reading">
			${mistakes > 0 && html`<section><h2 class="bad-text">The mapping has to be fixed first</h2><${Problems} list=${now.mapping.problems} />
				</section>`}
			${warnings.length > 0 && html`<details class="to-look-at"><summary class="warn-text">${count(warnings.length, 'thing')} to look at; nothing is held back by ${warnings.length === 1 ? 'it' : 'them'}</summary>
				<${Problems} list=${warnings} kind="warning" /></details>`}
			<div class="cards">
				<${Card} kind="dry-run" running=${running} off=${mistakes > 0}
					text="Reads every row, plans every client, and sends nothing. You get a workbook with the sheet, the wrong cells marked, and the calls that each client would get." />
				<${Card} kind="sandbox" running=${running} off=${mistakes > 0}
					text="Sends everything to the sandbox, a service inside Claimsheet, and shows what it holds afterwards: clients, claims, activities and links." />
			</div>
			${job && html`<${Progress} job=${job} />`}
		</div>
	</section>`;
}

/** @param {{kind: 'dry-run'|'sandbox', running: boolean, off: boolean, text: string}} props */
const Card = ({ kind, running, off, text }) => html`<section class="card"><h2>${kinds[kind]}</h2><p>${text}</p>
	<button type="button" class="main" aria-disabled=${running || off ? 'true' : undefined} onClick=${() => !running && !off && startJob(kind)}>
		${kind === 'dry-run' ? 'Start the dry run' : 'Run into the sandbox'}</button></section>`;

/** How far the job is, and what came of it. @param {{job: Job}} props */
function Progress({ job }) {
	const verdict = job.state === 'running' ? job.phase || 'Starting' : job.state === 'failed' ? job.phase
		|| 'It did not end well' : job.phase || (job.exitCode ? 'Done, with mistakes in the sheet' : 'Done, without a mistake');
	return html`<section class="job" aria-labelledby="job-title">
		<h2 id="job-title">${kinds[job.kind]}: <span role="status"
			class=${job.state === 'failed' ? 'bad-text' : job.state === 'done' && !job.exitCode ? 'good-text' : ''}>${verdict}</span></h2>
		${job.state === 'running' && html`<p class="actions">
			<progress aria-labelledby="job-title" max=${job.of || 1} value=${job.of ? job.done || 0 : undefined}></progress>
			<span>${job.of ? `${number(job.done)} of ${number(job.of)}` : ''}</span>
			<button type="button" onClick=${() => cancelJob()}>Stop</button></p>`}
		<p class="actions">${job.workbook && html`<a class="button" href=${job.workbook} download>Get the workbook</a>`}
			${job.pages && html`<a class="button" href=${job.pages} target="_blank"
			rel="noopener noreferrer">Look at what the sandbox holds</a>`}</p>
		${job.summary && html`<table class="rows summary"><caption class="hidden">What came of it</caption>
			<tbody>${facts(job.summary).map(([name, said]) => html`<tr><th scope="row">${name}</th><td>${said}</td></tr>`)}</tbody></table>`}
		<${Problems} list=${job.problems || []} grouped=${true} />
	</section>`;
}

/** What came of it, in lines: what was counted, and the counts that are not zero. @param {Record<string, any>} summary @returns {[string, string][]} */
function facts(summary) {
	return Object.entries(summary).flatMap(([name, counts]) => {
		if (typeof counts !== 'object' || counts === null || Array.isArray(counts)) return [];
		const said = Object.entries(counts).filter(([, n]) => typeof n === 'number' && n > 0).map(([what, n]) => `${number(n)} ${plainWords(what, n)}`);
		return said.length ? /** @type {[string, string][]} */ ([[plainWords(name), said.join(' · ')]]) : [];
	});
}
