// @ts-check
// Trying it: a dry run of the whole sheet, and a run into the sandbox. A run into a real environment is a command, never a button.

import { html } from './lib.js';
import { cancelJob, current, startJob } from './store.js';
import { Problems, View } from './ui.js';
import { count, number } from './words.js';

const kinds = { 'dry-run': 'Dry run', sandbox: 'Run into the sandbox' };

export function Try() {
	const { job, sheet, mapping: { problems, warnings } } = current();
	const isOff = problems.length > 0 || job?.state === 'running';
	const card = (/** @type {'dry-run'|'sandbox'} */ kind, /** @type {string} */ words, /** @type {string} */ text) => html`<section class="card">
		<h2>${kinds[kind]}</h2><p>${text}</p>
		<button type="button" class="main" aria-disabled=${isOff ? 'true' : undefined}
			onClick=${() => !isOff && startJob(kind)}>${words}</button></section>`;
	return html`<${View} title="Try it" of="nothing is sent to a real service from here"><div class="scroll reading">
		${problems.length > 0 && html`<section><h2 class="bad-text">The mapping has to be fixed first</h2><${Problems} list=${problems} /></section>`}
		${warnings.length > 0 && html`<details class="to-look-at"><summary class="warn-text">${count(warnings.length, 'thing')} to look at; nothing is held back by ${
			warnings.length === 1 ? 'it' : 'them'}</summary><${Problems} list=${warnings} kind="warning" /></details>`}
		<div class="cards">
			${card('dry-run', 'Start the dry run', `Reads every row${sheet.others ? ' of all sheets' : ''}, plans every client, `
				+ 'and sends nothing. You get a workbook with the sheet, the wrong cells marked, and the calls that each client would get.')}
			${card('sandbox', 'Run into the sandbox', 'Sends everything to the sandbox, a service inside Claimsheet, and shows what it holds '
				+ 'afterwards: clients, claims, activities and links.')}
		</div>
		${job && html`<${Progress} job=${job} />`}
	</div><//>`;
}

/** How far the job is, and what came of it. @param {{job: import('./types.js').Job}} props */
function Progress({ job }) {
	const isRunning = job.state === 'running', isGood = job.state === 'done' && !job.exitCode;
	const end = job.state === 'failed' ? 'It did not end well' : isGood ? 'Done, without a mistake' : 'Done, with mistakes in the sheet';
	return html`<section class="job" aria-labelledby="job-title">
		<h2 id="job-title">${kinds[job.kind]}: <span role="status"
			class=${job.state === 'failed' ? 'bad-text' : isGood ? 'good-text' : ''}>${job.phase || end}</span></h2>
		${isRunning && html`<p class="actions">
			<progress aria-labelledby="job-title" max=${job.of || 1} value=${job.of ? job.done : undefined}></progress>
			<span>${job.of ? `${number(job.done)} of ${number(job.of)}` : ''}</span>
			<button type="button" onClick=${() => cancelJob()}>Stop</button></p>`}
		<p class="actions">${job.workbook && html`<a class="button" href=${job.workbook} download>Get the workbook</a>`}
			${job.pages && html`<a class="button" href=${job.pages} target="_blank" rel="noopener noreferrer">Look at what the sandbox holds</a>`}</p>
		${job.summary && html`<table class="rows summary"><caption class="hidden">What came of it</caption>
			<tbody>${facts(job.summary).map(([name, said]) => html`<tr><th scope="row">${name}</th><td>${said}</td></tr>`)}</tbody></table>`}
		<${Problems} list=${job.problems} grouped=${true} />
	</section>`;
}

/** What came of it, in lines: what was counted, and the counts that are not zero. @param {Record<string, any>} summary @returns {string[][]} */
const facts = (summary) => Object.entries(summary).map(([name, counts]) => [name, Object.entries(Object(counts))
	.filter(([, n]) => typeof n === 'number' && n > 0)
	.map(([what, n]) => `${number(n)} ${what.replace(/[A-Z]/g, (letter) => ' ' + letter.toLowerCase())}`).join(' · ')]).filter(([, said]) => said);
