import { afterAll } from 'bun:test'
import { createMigratedDatabase, postgresUrl } from '../support/store'
import { type Options, startTargetOn, type Target } from './support/target'

export { eventually } from '../support/eventually'
export type { Target } from './support/target'

/*
 * The attack catalogue of reliability 3, areas A, B, C, D, G, H, I, P and Q, against the real server: `bun
 * src/main.ts` in a data folder of its own, asked over sockets. A row that contradicts the contract
 * yields to it, and its name says so.
 *
 * Rows that wait for their feature:
 *
 *   A8   key of a suspended org ..................... 10, suspending comes with the full CLI
 *   B2   DELETE /hooks, PATCH /settings ............. 7 and 10; here on keys and conversations
 *   B20  JSON posing as an upload on /audio/stt ..... 6
 *   B32  POST /research without a prompt ............ 6
 *   B35  strict members of webhooks and policies .... 5 and 7; here on keys
 *   C14  Range on an artifact ....................... 6; here on an ordinary answer
 *   C19  caps of 10,000 connections ................. [D] left out: the address space is the operator's
 *   D1, D7, D8, D10, D11  hooks, webhooks, workflows, events, iframes ... 7 and 8; here orgs and members
 *   D4   jobs of another key ........................ 6; here on conversations, keys and orgs
 *   D13  foreign skills, canvases, workflows ........ 4 and 7; here orgs, conversations, invitations
 *   D22  a route for many ids at once ............... there is none
 *   I-6  an account-level cap ....................... the contract limits keys; its other half stands here
 *   I-10 Redis down or slow ......................... the issue of the cluster
 *   I-12 skill submissions .......................... 4
 *   Q11  GET /webhooks, /iframes .................... 7 and 8; here on keys, settings, orgs and the record
 */

/** A server on the database of this run, an engine behind it, and callers of every kind. Gone when the file ends. */
export async function startTarget(options: Options = {}): Promise<Target> {
  const database = postgresUrl ? await createMigratedDatabase(postgresUrl) : null
  const target = await startTargetOn(database?.url ?? null, options)
  if (database) afterAll(database.drop)
  return target
}
