import { randomBase62 } from '../../src/kernel/crypto'
import type { Caller } from './call'
import { promptOf } from './prompts'

/** What seeding makes, as a row of its table. */
export type Made = { what: string; count: number; see: string }

type Demo = {
  /** With the key of the one whom everything belongs to. */
  call: Caller
  /** As a visitor of a widget, with no key. */
  visit: Caller
  keyId: string
  /** Whom events are published for. */
  accountId: string
  prompts: number
  /** Ends of names that may be there once only. */
  mark: string
  /** Ended work is there only where a server works it off. */
  isServed: boolean
}

/** Calls at a time. */
const LANES = 6
const SHOP = 'http://localhost:5055'

/** Everything but people and money: each row is made by the request that a client would send. */
export async function* seedDemo(demo: Demo): AsyncGenerator<Made> {
  yield await seedPrompts(demo)
  yield await seedPolicies(demo)
  yield* seedSkills(demo)
  yield* seedWidget(demo)
  yield* seedWebhooks(demo)
  yield* seedWork(demo)
}

async function seedPrompts({ call, prompts }: Demo): Promise<Made> {
  const ask = async (n: number): Promise<void> => {
    if (n >= prompts) return
    await call('POST', 'completions', promptOf(n))
    await ask(n + LANES)
  }
  await Promise.all(Array.from({ length: LANES }, (_, lane) => ask(lane)))
  return { what: 'completions', count: prompts, see: 'usage show --by mode' }
}

async function seedPolicies({ call, mark }: Demo): Promise<Made> {
  const short = { guardrail_id: 'max_length', phase: 'input', verdict: 'block', config: { max_chars: 5_000 } }
  await call('POST', 'guardrail-policies', { name: `Short prompts ${mark}`, rules: [short] })
  const rule = { pattern: 'stack trace', target_mode: 'code', confidence: 0.95 }
  await call('POST', 'routing-preferences', { name: `Code first ${mark}`, rules: [rule] })
  return { what: 'policies', count: 2, see: 'guardrails list' }
}

async function* seedSkills({ call, mark }: Demo): AsyncGenerator<Made> {
  const manifest = (slug: string, more: object = {}) => ({
    name: slug.replaceAll('-', ' '),
    slug: `${slug}-${mark}`,
    version: '1.0.0',
    description: 'Created by dev seed, as an example to review.',
    category: 'creative',
    author: { name: 'dev seed' },
    systemPromptExtension: 'When asked for a poem, write a haiku of three lines.',
    ...more,
  })
  const tools = [{ name: 'count_syllables', description: 'Counts syllables.' }]
  const grave = ['execute:tools', 'external:http', 'write:notes']
  await call('POST', 'skills/submit', { manifest: manifest('haiku-writer') })
  yield { what: 'published skills', count: 1, see: 'skills list' }
  await call('POST', 'skills/submit', { manifest: manifest('syllable-counter', { tools }) })
  await call('POST', 'skills/submit', { manifest: manifest('note-sender', { tools, permissions: grave }) })
  yield { what: 'pending submissions', count: 2, see: 'submissions list' }
}

async function* seedWidget({ call, visit, keyId, mark }: Demo): AsyncGenerator<Made> {
  const security = { allowedOrigins: [SHOP] }
  const { id } = await call('POST', 'iframes', { name: `Shop help ${mark}`, api_key_id: keyId, security })
  yield { what: 'widgets', count: 1, see: `widgets snippet ${id} --page` }
  for (const wants of [false, true]) {
    const origin = { origin: SHOP }
    const chats = `iframes/${id}/sessions`
    const { session_id, token } = await visit<{ session_id: string; token: string }>('POST', chats, {}, origin)
    const asVisitor = { ...origin, authorization: `Bearer ${token}` }
    await visit('POST', `${chats}/${session_id}/messages`, { content: 'What is 19 times 21?' }, asVisitor)
    if (wants) await visit('POST', `${chats}/${session_id}/request-human`, { reason: 'A refund' }, asVisitor)
  }
  yield { what: 'chats, one waiting for a person', count: 2, see: 'takeovers list' }
}

type Taken = { deliveries: { event_id: string }[] }

/** One that answers, with seeding itself as its receiver, and one whose address does not exist. */
async function* seedWebhooks({ call, mark, accountId, isServed }: Demo): AsyncGenerator<Made> {
  const well = await call('POST', 'webhooks', { url: 'listen:', event_types: ['*'], description: `well ${mark}` })
  const sick = { url: 'https://receiver.invalid/hook', event_types: ['order.*'], description: `fails ${mark}` }
  await call('POST', 'webhooks', sick)
  const thanks = { skill_slug: `haiku-writer-${mark}`, config: { prompt: 'Thank them' } }
  await call('POST', 'hooks', { event_pattern: 'order.*', ...thanks })
  for (let total = 1; total <= 3; total++) {
    const order = { orgId: accountId, eventType: 'order.created', payload: { total }, sourceConnector: 'dev seed' }
    await call('POST', 'events', order, { 'idempotency-key': randomBase62(24) })
  }
  const listener = `webhooks/${well.id}/listener`
  const { deliveries } = await call<Taken>('PUT', listener, { done: [], wait_seconds: isServed ? 2 : 0 })
  const done = deliveries.map(({ event_id }) => ({ event_id, http_status: 200, duration_ms: 40 }))
  if (done.length) await call('PUT', listener, { done })
  yield { what: 'webhooks, one failing', count: 2, see: 'deliveries list' }
  yield { what: 'events', count: 3, see: 'events list' }
}

async function* seedWork({ call, mark, isServed }: Demo): AsyncGenerator<Made> {
  const steps = [
    { type: 'transform', name: 'Shape', config: { template: '{{trigger.total}}' } },
    { type: 'approval', name: 'Ask', config: { message: 'Approve this refund?' } },
  ]
  const order = { name: `Refund ${mark}`, triggerType: 'manual', steps }
  const { workflow } = await call<{ workflow: { id: string } }>('POST', 'workflows', order)
  await call('POST', `workflows/${workflow.id}/run`, { triggerData: { total: 12 } })
  yield { what: 'workflow runs waiting for approval', count: 1, see: 'workflows list' }
  await call('POST', 'research', { prompt: 'When do the tides turn?' })
  await call('POST', 'video', { prompt: 'A red ball' })
  const { job_id } = await call<{ job_id: string }>('POST', 'research', { prompt: 'This one is cancelled' })
  await call('POST', `jobs/${job_id}/cancel`, {}).catch(() => undefined)
  yield { what: isServed ? 'jobs' : 'jobs, which run once a server starts', count: 3, see: 'jobs list' }
}
