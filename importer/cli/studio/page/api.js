// @ts-check
// Talks to the server. Every answer is JSON; every refusal becomes an error with words for a person.

import { search } from './lib.js';

/** A refusal: status is that of HTTP, 0 when nothing answered; state is the present one, when the request was made for an older version.
 * @typedef {Error & {status: number, code?: string, hint?: string, state?: import('./types.js').State}} Refusal */

/** @param {number} status @param {{code?: string, message: string, hint?: string}} error @param {import('./types.js').State} [state]
 * @returns {Refusal} */
export const refusal = (status, error, state) => Object.assign(new Error(), { status, state }, error);

/** Asks for something; null when the server has nothing new. @param {string} path below /api/
 * @param {Record<string, string|number|undefined>} [query] @param {AbortSignal} [signal] @returns {Promise<any>} */
export const get = (path, query = {}, signal) => ask(`${path}?${search(query)}`, { signal });

/** Sends something; also when the page is being closed. @param {string} path below /api/ @param {object} value
 * @param {AbortSignal} [signal] @returns {Promise<any>} */
export function post(path, value, signal) {
	const body = JSON.stringify(value), keepalive = body.length < 20_000; // a browser sends so much surely for a page that is closed
	return ask(path, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body, signal, keepalive });
}

/** @param {string} path @param {RequestInit} request */
async function ask(path, request) {
	const signals = [AbortSignal.timeout(60_000), ...(request.signal ? [request.signal] : [])];
	let response, body;
	try {
		response = await fetch('/api/' + path, { ...request, signal: AbortSignal.any(signals) });
		if (response.status === 204) return null;
		const { ok } = response;
		body = await response.json().catch((cause) => (ok ? Promise.reject(cause) : {})); // an answer that breaks off is none
	} catch (cause) {
		if (request.signal?.aborted) throw cause;
		throw refusal(0, { code: 'away', message: 'Claimsheet does not answer.',
			hint: 'Look at the window in which you started it; start it again if it has ended.' });
	}
	if (response.ok) return body;
	throw refusal(response.status, body.error || { message: `Claimsheet could not do this (${response.status})`,
		hint: 'what you see here may not be saved; look at the window in which you started it' }, body.state);
}
