import { join } from 'node:path'
import { type Document, groupsOf, resolver } from '../../src/pages/reference/operations'
import type { Json } from '../../src/pages/reference/samples'
import { type Household, settle } from '../catalogue/support/people'
import { type Spawned, spawnServer } from '../catalogue/support/server'
import { neededBy } from '../support/effort'
import { spentBy } from '../support/spent'
import { type Field, fieldsOf, type Request, sampleOf } from './fields'

/** What was sent where, and how long that took. */
export type Sent = {
  ms: number
  /** The longest stretch during the call, or just before it, in which the server did nothing else. */
  held: number
  field: string
  flood: string
  status: number
}

/** What one route cost, in milliseconds that this server needed itself. */
export type Cost = {
  route: string
  calls: number
  /** The longest call. */
  worst: Sent
  /** Of `/health` while the route was flooded. */
  health: { p99: number; worst: number }
}

/** A text made as long as wanted: a beginning, one piece again and again, and an end. */
export type Flood = { name: string; of(length: number): string }

const flood = (lead: string, piece: string, end = ''): Flood => ({
  name: JSON.stringify(`${lead}${piece}…${end}`),
  of: (length) => {
    const room = Math.max(0, length - lead.length - end.length)
    return `${lead}${piece.repeat(Math.ceil(room / piece.length)).slice(0, room)}${end}`.slice(0, length)
  },
})

/** One character without end. */
export const CHARACTERS: readonly Flood[] = [...`"'\`“ \n\t!>*_([{)]}\\/.,;:-=|#<&%$@~^+?a1É漢`].map((one) =>
  flood('', one),
)

/** Words that send a prompt somewhere, each before every character of some, and an end that fits nothing. */
const LEADS = ['please do this: ', 'write a list of ', 'a document about ', 'a chart of ', 'what is 1', 'call me at ']
const PUMPED = [' ', '"', '!', '\n', '(', '1 ', 'a ', '- ', ', ']
/** Pieces of more than one character. */
const PIECES = [
  '{"a":',
  '***a_',
  '[a](',
  '<a ',
  '| a ',
  '```\n',
  'http://',
  'a@',
  '1/',
  'a.',
  'Aa ',
  '1+',
  'name: x\n',
  '\r\n',
]
export const PUMPS: readonly Flood[] = [
  ...LEADS.flatMap((lead) => PUMPED.map((piece) => flood(lead, piece, ' x'))),
  ...PIECES.map((piece) => flood('', piece, ' x')),
]

/** A field that takes this much is meant for prose, and gets the pumped floods too. */
const PROSE = 10_000
/** No browser is started, no answer comes from the cache, no name is looked up, and no caller is too fast. */
const ENVIRONMENT = {
  SVC_BROWSER_PATH: 'off',
  SVC_CACHE_ENABLED: '0',
  SVC_EGRESS_ALLOW: '127.0.0.1/32',
  SVC_SIGNUP: 'open',
  SVC_CREDITS_INITIAL_CENTS: '0',
  SVC_TIERS: JSON.stringify({ enterprise: { rpm: 100_000_000, tpm: 100_000_000_000 } }),
}
const PATIENCE_MS = 30_000
const HEALTH = join(import.meta.dir, 'health-process.ts')

/** A server with the built-in engine, and people with credit. To be ended with `kill`. */
export type Target = Spawned & { people: Household; send(request: Request): Promise<Answer> }
type Answer = { status: number; body: Record<string, unknown> | null }

export async function startTarget(): Promise<Target> {
  const server = await spawnServer(ENVIRONMENT)
  const people = await settle(server)
  return {
    ...server,
    people,
    async send({ method, path, body }) {
      const response = await fetch(`${server.url}${path === '/openapi.json' ? '' : '/api/v1'}${path}`, {
        method,
        redirect: 'manual',
        headers: { authorization: `Bearer ${people.secrets.k1}`, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(PATIENCE_MS),
      })
      const isJson = response.headers.get('content-type')?.startsWith('application/json')
      const text = await response.text()
      return { status: response.status, body: isJson && text ? JSON.parse(text) : null }
    },
  }
}

type Input = {
  /** Of routes, such as `POST /completions`. */
  only?: (route: string) => boolean
  characters?: readonly Flood[]
  pumps?: readonly Flood[]
  /** Characters of a text whose field has no smaller bound. */
  length: number
  /** Told of each call, and of each route once it is done. */
  sent?(route: string, sent: Sent): void
  notify?(cost: Cost): void
}

/** Floods every field of every route, one call after the other, while another process asks for `/health`. */
export async function floodAll(target: Target, input: Input): Promise<Cost[]> {
  const { characters = CHARACTERS, pumps = PUMPS, length, only = () => true, sent, notify } = input
  const document = (await target.send({ method: 'GET', path: '/openapi.json' })).body as unknown as Document
  const ids = await makeOne(target, document)
  const fields = fieldsOf(document, (path) => ids.get(path)).filter(({ operation }) => only(routeOf(operation)))
  const byRoute = Map.groupBy(fields, ({ operation }) => routeOf(operation))
  // What is deleted is needed until then.
  const routes = [...byRoute].sort(([a], [b]) => Number(a.startsWith('DELETE')) - Number(b.startsWith('DELETE')))
  const health = watchHealth(target)
  const costs: Cost[] = []
  try {
    for (const [route, ofRoute] of routes) {
      const since = performance.timeOrigin + performance.now()
      const calls = ofRoute.flatMap((field) =>
        [...characters, ...(field.max >= PROSE ? pumps : [])].map((one) => ({ field, one })),
      )
      let worst: Sent = { ms: 0, held: 0, field: '', flood: '', status: 0 }
      let known = target.blocks().length
      for (const { field, one } of calls) {
        const text = one.of(Math.min(length, field.max))
        const { ms, status } = await timed(target, field.with(text))
        const blocks = target.blocks().slice(known)
        known += blocks.length
        const held = blocks.reduce((max, block) => Math.max(max, block.ms), 0)
        const call = { ms, held, field: field.name, flood: one.name, status }
        if (ms >= worst.ms) worst = call
        sent?.(route, call)
      }
      const cost = { route, calls: calls.length, worst, health: health.since(since) }
      costs.push(cost)
      notify?.(cost)
    }
  } finally {
    health.stop()
  }
  return costs
}

const routeOf = ({ method, path }: Field['operation']): string => `${method} ${path}`

/** Something of each kind that a person makes, by the path where it is made, so that floods reach what reads it. */
async function makeOne(target: Target, document: Document): Promise<Map<string, string>> {
  const resolve = resolver(document)
  const ids = new Map<string, string>()
  const makers = groupsOf(document).flatMap(({ operations }) =>
    operations.filter(({ method, path }) => method === 'POST' && !path.includes('{') && !path.startsWith('/auth')),
  )
  for (const operation of makers) {
    const { path, body } = sampleOf(operation, resolve)
    const given =
      body && 'api_key_id' in (body as object) ? { ...(body as object), api_key_id: target.people.keyIds.k1 } : body
    const made = await target.send({ method: 'POST', path, body: given as Json })
    if (made.status < 300 && typeof made.body?.id === 'string') ids.set(path, made.body.id)
  }
  return ids
}

/**
 * One call, in milliseconds without those in which other processes had the core. What goes on after it is cancelled.
 */
async function timed(target: Target, request: Request): Promise<{ ms: number; status: number }> {
  const [began, queued, before] = [performance.now(), spentBy('thread-self').queuedMs, spentBy(String(target.pid))]
  const answer: Answer = await target.send(request).catch(() => ({ status: 0, body: null }))
  const ms = performance.now() - began
  const own = Math.max(0, neededBy(target.pid, ms + before.queuedMs, queued))
  const job = answer.body?.job_id
  if (job) await target.send({ method: 'POST', path: `/jobs/${job}/cancel` })
  return { ms: own, status: answer.status }
}

function watchHealth({ port, pid }: Target) {
  const child = Bun.spawn([process.execPath, '--no-orphans', HEALTH, String(port), String(pid)], {
    stdin: 'ignore',
    stdout: 'pipe',
  })
  const seen: { at: number; ms: number }[] = []
  const reading = (async () => {
    let rest = ''
    for await (const chunk of child.stdout.pipeThrough(new TextDecoderStream())) {
      const lines = (rest + chunk).split('\n')
      rest = lines.pop()!
      for (const line of lines) {
        const [at, ms] = line.split(' ').map(Number) as [number, number]
        seen.push({ at, ms })
      }
    }
  })()
  return {
    since(start: number): Cost['health'] {
      const sorted = seen
        .filter(({ at }) => at >= start)
        .map(({ ms }) => ms)
        .sort((a, b) => a - b)
      return { p99: sorted[Math.floor(0.99 * (sorted.length - 1))] ?? 0, worst: sorted.at(-1) ?? 0 }
    },
    stop(): void {
      child.kill()
      void reading
    },
  }
}
