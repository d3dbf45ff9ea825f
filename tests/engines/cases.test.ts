import { afterAll, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { type Clock, systemClock } from '../../src/kernel/clock'
import { listen } from '../support/listening'
import { createWorld } from '../support/world'
import { type CaseReply, startCaseUpstream } from './cases-upstream'

type Json = Record<string, unknown>
type Wanted = {
  status?: number | number[]
  error?: boolean
  error_code?: string
  error_like?: string | string[]
  content?: string
  content_json?: unknown
  finish_reason?: string
  refusal?: boolean
  refusal_like?: string
  reasoning?: string
  tool_calls?: { name: string; arguments: unknown }[]
  argument_length?: number
  argument_pieces?: number
  first_piece_within_ms?: number
  usage?: Json
  retry_after?: number
  warning_like?: string
  within_ms?: number
  at_least_ms?: number
  charged?: boolean
  upstream_calls?: number
  upstream_got?: { call?: number; has?: string; path?: string; is?: unknown; parsed?: boolean; none_empty?: boolean }[]
  any_of?: Wanted[]
}
type Case = {
  id: string
  rule: string
  upstream: CaseReply | CaseReply[]
  request: { path: string; body: Json & { messages?: Json[] }; then?: { result: string }[] }
  wanted: Wanted
}
type Answer = {
  status: number
  retryAfter: number
  tookMs: number
  error: Json | undefined
  content: string | null
  finish: string | null
  refusal: string | null
  reasoning: string
  calls: { id: string; name: string; arguments: string }[]
  pieces: { at: number; text: string }[]
  usage: Json | undefined
  warnings: string
  message: Json
}

const FOLDER = `${import.meta.dir}/cases`
const CASES = readdirSync(FOLDER).map((file) => JSON.parse(readFileSync(`${FOLDER}/${file}`, 'utf8')) as Case)
const PATIENCE_MS = 30_000

const upstream = await startCaseUpstream(Object.fromEntries(CASES.map((one) => [one.id, [one.upstream].flat()])))
const compat = { kind: 'compat' as const, baseUrl: `${upstream.url}/v1`, apiKey: 'sk-test' }
const vendor = (kind: 'anthropic' | 'google' | 'openai') => ({ kind, baseUrl: `${upstream.url}/v1`, apiKey: 'sk-test' })
/** Grows by ten minutes a case, so that no failing case opens a circuit breaker for the next one. */
let shiftMs = 0
const clock: Clock = {
  ...systemClock,
  now: () => systemClock.now() + shiftMs,
  monotonic: () => systemClock.monotonic() + shiftMs,
}
const world = await createWorld({
  clock,
  config: {
    engines: {
      upstreams: {
        plain: compat,
        seeing: { ...compat, vision: true },
        quick: { ...compat, silenceMs: 2_000 },
        anthropic: vendor('anthropic'),
        google: vendor('google'),
        openai: vendor('openai'),
      },
      models: {
        '*': ['plain:mock-1'],
        'svc-1-roast': ['anthropic:mock-1'],
        'svc-1-code': ['google:mock-1'],
        'svc-1-extract': ['openai:mock-1'],
        'svc-1-vision': ['seeing:mock-1'],
        'svc-1-analyze': ['quick:mock-1'],
        'svc-1-genui': ['google:mock-1', 'plain:mock-1'],
      },
    },
  },
})
const { origin } = listen(world)
const person = await world.person({ cents: 1_000_000 })
const balanceOf = async () => (await person.send('GET', 'usage')).body.balance_cents
afterAll(() => upstream.stop())

test.each(CASES.map((one) => [`${one.id}: ${one.rule}`, one] as const))(
  'upstreams and clients as they are: %s',
  async (_, { id, request, wanted }) => {
    shiftMs += 600_000
    const before = wanted.charged === undefined ? 0 : await balanceOf()
    const messages = [...(request.body.messages ?? [])]
    let answer = await ask(request.path, request.body)
    for (const { result } of request.then ?? []) {
      const results = answer.calls.map((call) => ({ role: 'tool', tool_call_id: call.id, content: result }))
      messages.push(answer.message, ...results)
      answer = await ask(request.path, { ...request.body, messages })
    }
    const { any_of = [wanted], ...rest } = wanted
    const problems = any_of.map((one) => problemsOf(answer, { ...rest, ...one }, upstream.received(id)))
    const isMet = problems.some((found) => found.length === 0)
    expect(isMet ? [] : { problems, answer }).toEqual([])
    if (wanted.charged === false) expect(await balanceOf()).toBe(before)
  },
  PATIENCE_MS,
)

async function ask(path: string, body: Json): Promise<Answer> {
  const startedAt = performance.now()
  const reply = await fetch(`${origin}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${person.key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const events: { at: number; data: Json }[] = []
  const isStream = (reply.headers.get('content-type') ?? '').startsWith('text/event-stream')
  let text = ''
  for await (const chunk of reply.body!.pipeThrough(new TextDecoderStream())) {
    text += chunk
    if (!isStream) continue
    const parts = text.split('\n\n')
    text = parts.pop()!
    for (const data of parts.flatMap((part) => part.match(/^data: (.*)$/m)?.[1] ?? [])) {
      if (data !== '[DONE]') events.push({ at: performance.now() - startedAt, data: JSON.parse(data) })
    }
  }
  const base = {
    status: reply.status,
    retryAfter: Number(reply.headers.get('retry-after')),
    tookMs: performance.now() - startedAt,
  }
  return { ...base, ...(isStream ? joined(events) : wholeOf(JSON.parse(text))) }
}

type Body = Omit<Answer, 'status' | 'retryAfter' | 'tookMs'>

// biome-ignore lint/suspicious/noExplicitAny: answers of both formats, errors among them
function wholeOf(body: any): Body {
  const choice = body.choices?.[0]
  const message = choice?.message ?? { role: 'assistant', content: body.content ?? null }
  return {
    error: body.error,
    content: message.content,
    finish: choice?.finish_reason ?? null,
    refusal: message.refusal ?? null,
    reasoning: message.reasoning_content ?? '',
    calls: (message.tool_calls ?? []).map((call: { id: string; function: Json }) => ({
      id: call.id,
      ...call.function,
    })),
    pieces: [],
    usage: body.usage,
    warnings: JSON.stringify(body.svc_metadata?.warnings ?? body.warnings ?? []),
    message,
  }
}

// biome-ignore lint/suspicious/noExplicitAny: chunks of a stream
function joined(events: { at: number; data: any }[]): Body {
  const choices = events.flatMap(({ at, data }) => (data.choices ?? []).map((choice: Json) => ({ at, ...choice })))
  const deltas = choices.map(({ at, delta }) => ({ at, ...delta }))
  const sum = (member: string) => deltas.map((delta) => delta[member] ?? '').join('')
  const calls: { id: string; name: string; arguments: string }[] = []
  const pieces: { at: number; text: string }[] = []
  for (const { at, tool_calls = [] } of deltas) {
    for (const { index, id, function: part } of tool_calls) {
      calls[index] ??= { id: '', name: '', arguments: '' }
      if (id) calls[index].id = id
      if (part?.name) calls[index].name = part.name
      if (part?.arguments) {
        calls[index].arguments += part.arguments
        pieces.push({ at, text: part.arguments })
      }
    }
  }
  const content = sum('content')
  const functions = calls.map(({ id, ...rest }) => ({ id, type: 'function', function: rest }))
  return {
    error: events.find(({ data }) => data.error)?.data.error,
    content,
    finish: choices.findLast(({ finish_reason }) => finish_reason)?.finish_reason ?? null,
    refusal: sum('refusal') || null,
    reasoning: sum('reasoning_content'),
    calls,
    pieces,
    usage: events.findLast(({ data }) => data.usage)?.data.usage,
    warnings: JSON.stringify(events.flatMap(({ data }) => data.svc_metadata?.warnings ?? [])),
    message: { role: 'assistant', content, ...(calls.length ? { tool_calls: functions } : {}) },
  }
}

/** One sentence for each wish that the answer does not meet. */
function problemsOf(answer: Answer, wanted: Wanted, bodies: string[]): string[] {
  const has = (pattern: string, text: unknown) => new RegExp(pattern, 'i').test(String(text ?? ''))
  const same = (a: unknown, b: unknown) => Bun.deepEquals(a, b)
  const calls = answer.calls.map((call) => ({ name: call.name, arguments: parsedOr(call.arguments) }))
  const checks: Record<keyof Wanted, () => boolean> = {
    status: () => [wanted.status].flat().includes(answer.status),
    error: () => wanted.error === (answer.error !== undefined),
    error_code: () => answer.error?.code === wanted.error_code,
    error_like: () => [wanted.error_like!].flat().every((one) => has(one, answer.error?.message)),
    content: () => (answer.content ?? '') === wanted.content,
    content_json: () => same(parsedOr(answer.content ?? ''), wanted.content_json),
    finish_reason: () => answer.finish === wanted.finish_reason,
    refusal: () => wanted.refusal === (answer.refusal !== null),
    refusal_like: () => has(wanted.refusal_like!, answer.refusal ?? answer.content),
    reasoning: () => answer.reasoning === wanted.reasoning,
    tool_calls: () => same(calls, wanted.tool_calls),
    argument_length: () => answer.calls[0]?.arguments.length === wanted.argument_length,
    argument_pieces: () => answer.pieces.length >= wanted.argument_pieces!,
    first_piece_within_ms: () => (answer.pieces[0]?.at ?? Number.POSITIVE_INFINITY) <= wanted.first_piece_within_ms!,
    usage: () => Object.entries(wanted.usage!).every(([name, value]) => answer.usage?.[name] === value),
    retry_after: () => answer.retryAfter === wanted.retry_after,
    warning_like: () => has(wanted.warning_like!, answer.warnings),
    within_ms: () => answer.tookMs <= wanted.within_ms!,
    at_least_ms: () => answer.tookMs >= wanted.at_least_ms!,
    upstream_calls: () => bodies.length === wanted.upstream_calls,
    upstream_got: () => wanted.upstream_got!.every((one) => gotBy(bodies, one)),
    charged: () => true,
    any_of: () => true,
  }
  return (Object.keys(wanted) as (keyof Wanted)[])
    .filter((name) => !checks[name]())
    .map((name) => `${name} should be ${JSON.stringify(wanted[name])}`)
}

/** The value of a JSON text, or the text when it is none. */
function parsedOr(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** Whether call `call` (the last by default) brought the upstream what was wanted. */
function gotBy(
  bodies: string[],
  { call = bodies.length, has, path, is, parsed, none_empty }: NonNullable<Wanted['upstream_got']>[number],
): boolean {
  const body = bodies[call - 1]
  if (body === undefined) return false
  if (has !== undefined) return body.includes(has)
  const found = path!.split('.').reduce<unknown[]>(stepInto, [JSON.parse(body)])
  if (none_empty) return found.length > 0 && found.every((one) => one !== '' && !Bun.deepEquals(one, []))
  if (!found.length) return is === null
  return found.some((one) => Bun.deepEquals(parsed ? parsedOr(String(one)) : one, is))
}

/** `name`, `0`, or `name[member=value]`, which keeps the entries of a list with that member. */
function stepInto(at: unknown[], step: string): unknown[] {
  const [, name = '', member, value] = /^(\w+)(?:\[(\w+)=(\w+)\])?$/.exec(step) ?? []
  const inner = at.map((one) => (one as Json | undefined)?.[name]).filter((one) => one !== undefined)
  return member ? inner.flat().filter((one) => (one as Json)[member] === value) : inner
}
