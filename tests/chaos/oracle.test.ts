import { Database } from 'bun:sqlite'
import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eventually } from '../support/eventually'
import { seededRandom } from '../support/random'
import { devKeyOf } from '../support/server-process'
import { startUpstream } from '../support/upstream'
import { createClient, whenReady } from './client'
import { copyDataDir, inspectCopy, verifyCopy } from './copy'
import { reread } from './reread'
import { createRig } from './rig'
import type { Known } from './witness'

const upstream = await startUpstream()
const rig = await createRig(upstream)
const root = mkdtempSync(join(tmpdir(), 'svc-oracle-'))
afterAll(async () => {
  await upstream.stop()
  await rig.close()
  rmSync(root, { recursive: true, force: true })
})

const first = await rig.boot()
/** Conversations of one turn that no client of the load knows of: what the load did cannot change them. */
const [changed, renamed, back] = await Promise.all(['changed', 'renamed', 'back'].map((word) => converse(word)))
const { answers, keys, orgs, purchases, events, runs } = rig.witness
await rig.load(
  first,
  seededRandom(1),
  eventually(
    // Two keys, since one cannot be made to look like another.
    () =>
      Math.min(
        answers.length - 20,
        keys.length - 1,
        orgs.length,
        events.length,
        runs.length,
        purchases.filter(({ notify: notice }) => notice).length,
      ),
    (enough) => enough > 0,
    60_000,
  ),
)

async function converse(word: string): Promise<Known> {
  const prompt = `Say ${word}. [[say:${word}]]`
  const client = createClient(first.url, devKeyOf(rig.dataDir))
  const outcome = await client.send('POST', 'completions', { prompt, mode: 'fast' })
  if (outcome.is !== 'acked') throw new Error(`a conversation could not be made: ${JSON.stringify(outcome)}`)
  const { conversation_id: id, content, request_id: requestId, usage } = outcome.value
  const known = { id, turns: [{ prompt, answer: content }], title: null, deleted: false, pending: {} }
  rig.witness.answers.push({ requestId, costCents: usage.cost_cents })
  rig.witness.conversations.push(known)
  return known
}

/** A copy of what the kill left, with something done to it that must not go unseen. */
function tampered(sql: string): string {
  const copy = join(root, 'copy')
  copyDataDir(rig.dataDir, copy)
  const database = new Database(join(copy, 'svc.db'))
  for (const { name } of database.query("SELECT name FROM sqlite_master WHERE type = 'trigger'").all() as {
    name: string
  }[]) {
    database.run(`DROP TRIGGER "${name}"`)
  }
  database.run(sql)
  database.close()
  return copy
}

test('what a kill leaves is found sound before anything is done to it', async () => {
  await rig.checkCopy()
  expect(rig.violations).toEqual([])
  expect(answers.length).toBeGreaterThan(20)
  expect(keys.length).toBeGreaterThan(1)
})

test.each([
  ['a lost answer', 'DELETE FROM usage_records', /was acknowledged and has no usage row/],
  ['an answer off the record', 'UPDATE usage_records SET seq = NULL', /is not on the record/],
  ['another price', 'UPDATE usage_records SET cost_micro = cost_micro + 1', /and stored \d+ micro-cents/],
  ['a charge off the ledger', 'UPDATE usage_records SET ledger_ref = NULL', /charged 0, used \d+, settled \d+/],
  [
    'two charges of one hold',
    'UPDATE usage_records SET ledger_ref = (SELECT max(ledger_ref) FROM usage_records) WHERE ledger_ref IS NOT NULL',
    /has \d+ legs in the ledger, not 2/,
  ],
  [
    'a call counted twice',
    'UPDATE usage_records SET request_id = (SELECT max(request_id) FROM usage_records)',
    /has \d+ usage rows/,
  ],
  [
    'a lost purchase',
    "DELETE FROM ledger_entries WHERE kind = 'purchase'",
    /the purchase \S+ was taken in and is lost/,
  ],
  [
    'a purchase booked by half',
    "DELETE FROM ledger_entries WHERE kind = 'purchase' AND account = 'issued'",
    /the purchase \S+ is booked wrongly/,
  ],
  ['a lost key', 'DELETE FROM api_keys', /was acknowledged and is not there/],
  ['a lost org', "DELETE FROM orgs WHERE name LIKE 'org %'", /org .* was acknowledged and is not there/],
  ['a lost event', 'DELETE FROM bus_events', /event \S+ was acknowledged and is there 0 times/],
  [
    'a run that nobody recorded',
    "DELETE FROM audit_events WHERE action = 'workflow.run'",
    /run \S+ was acknowledged and is there 0 times/,
  ],
  [
    'a key made twice',
    "UPDATE api_keys SET name = (SELECT max(name) FROM api_keys WHERE name LIKE 'key %') WHERE name LIKE 'key %'",
    /the key key \d+ was made \d+ times/,
  ],
  [
    'a prompt answered twice',
    `UPDATE usage_records SET input = '{"prompt_sha256":"x"}' WHERE action = 'completion.created'`,
    /the answer to x was made \d+ times/,
  ],
  [
    'a key off the record',
    "DELETE FROM audit_events WHERE action = 'key.created'",
    /key.created: .* happened 1 times and is on the record 0/,
  ],
  [
    'a row without its effect',
    'UPDATE api_keys SET revoked_at = 1 WHERE id = (SELECT min(id) FROM api_keys)',
    /key.revoked: .* happened 1 times and is on the record 0/,
  ],
  [
    'an answer without its effect',
    "UPDATE idempotency_keys SET request_id = 'req_' || rowid",
    /the answer of req_\d+ is kept and nothing of it is on the record/,
  ],
  ['sums that disagree', 'UPDATE holds SET settled_amount = 0', /charged \d+, used \d+, settled 0/],
])('sees %s', (_, sql, expected) => {
  expect(inspectCopy(tampered(sql), rig.witness).join('\n')).toMatch(expected)
})

test.each([
  [
    'a changed wallet',
    'UPDATE wallets SET balance = balance + 1',
    /^ledger and holds: .*its ledger entries add up to/m,
  ],
  ['a changed audit row', "UPDATE audit_events SET action = 'x' WHERE seq = 1", /^audit chain: /m],
  ['half a turn', 'DELETE FROM messages WHERE seq = 2', /^conversations: .*counts 2 messages and has 1/m],
])(
  '`verify` sees %s',
  async (_, sql, expected) => {
    expect((await verifyCopy(tampered(sql))).join('\n')).toMatch(expected)
  },
  60_000,
)

test('a server that is busy is asked again, and anything else is what it said', async () => {
  const statuses = [503, 503, 200, 404]
  const busy = Bun.serve({ port: 0, fetch: () => Response.json({}, { status: statuses.shift()! }) })
  const client = createClient(busy.url.origin, 'x')
  const ask = () => whenReady({ pid: process.pid }, () => client.send('GET', 'models'))
  expect((await ask()).is).toBe('acked')
  expect(await ask()).toMatchObject({ is: 'refused', status: 404 })
  await busy.stop(true)
})

test('reading back sees a turn that changed, a name that changed, a conversation that went or came back', async () => {
  const server = await rig.boot()
  const problems = await reread(
    { url: server.url, key: devKeyOf(rig.dataDir), pid: server.pid },
    {
      conversations: [
        { ...changed!, turns: changed!.turns.map(({ prompt }) => ({ prompt, answer: 'something else' })) },
        { ...renamed!, title: 'never its name' },
        { ...back!, deleted: true },
        { ...back!, id: crypto.randomUUID() },
      ],
      made: [],
      keys: [false, true].map((rotating) => ({
        ...{ id: crypto.randomUUID(), name: 'x', secret: 'svc_sk_live_x' },
        ...{ rotations: 0, rotating },
      })),
    },
  )
  await server.stop()
  expect(
    problems.map((problem) => problem.replace(/[0-9a-f-]{36}/, 'ID').replace(/called ".*?"/, 'called "…"')).sort(),
  ).toEqual([
    'conversation ID is called "…", not "never its name"',
    'conversation ID lost or changed a turn',
    'conversation ID was acknowledged and answers 404',
    'conversation ID was deleted and is back',
    'key ID was acknowledged and answers 401',
  ])
}, 60_000)
