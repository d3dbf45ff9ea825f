import { join } from 'node:path'

// biome-ignore lint/suspicious/noExplicitAny: answers come in many shapes
export type Json = any
export type Answers = Record<string, Json>
type Documented = { paths: Record<string, { get?: { responses: Record<string, { content?: object }> } }> }

/** Lists differ in what they call the id of an item. */
const ID = ['id', 'session_id', 'sessionId', 'name']
const FIRST = 3
/** They move while nobody changes anything: deliveries are tried again, lists grow, and reading uses a key. */
const MOVES = new Set(['failure_count', 'presets', 'has_more', 'next_cursor', 'request_id', 'last_used_at'])
/** They tell of the release or of the moment and not of data, or reading them is on the record. */
const NO_DATA = new Set([
  ...['/health', '/openapi.json', '/models', '/models/{id}', '/tools', '/guardrails', '/rate-limits'],
  ...['/benchmarks', '/usage/export', '/audit/checkpoint', '/webhooks/{id}/stats'],
])

/** Calls the API of a server with a key, and its operator API over the socket of its data folder. */
export function clientOf(url: string, dataDir: string) {
  const call = async (method: string, path: string, key: string | null, body?: unknown, more: object = {}) => {
    const headers = {
      ...(key === null ? {} : { authorization: `Bearer ${key}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...more,
    }
    const response = await fetch(`${url}/api/v1${path}`, {
      method,
      headers,
      body: body === undefined ? null : JSON.stringify(body),
    })
    const text = await response.text()
    const isJson = response.headers.get('content-type')?.includes('application/json')
    return { status: response.status, body: (isJson ? JSON.parse(text) : text) as Json }
  }

  return {
    call,
    async ops(method: string, path: string, body?: unknown): Promise<Json> {
      const response = await fetch(`http://localhost/ops/v1${path}`, {
        unix: join(dataDir, 'ops.sock'),
        method,
        headers: { 'x-svc-operator': 'release', 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      const text = await response.text()
      if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
      return JSON.parse(text)
    },

    /** What every route that reads answers to a key: lists, and the first items of each. */
    async everything(key: string): Promise<Answers> {
      const { paths } = (await (await fetch(`${url}/openapi.json`)).json()) as Documented
      const found: Answers = {}
      const routes = Object.keys(paths).filter(
        (path) => 'application/json' in (paths[path]!.get?.responses['200']?.content ?? {}) && !NO_DATA.has(path),
      )
      const read = async (path: string, place: string): Promise<void> => {
        const { status, body } = await call('GET', place, key)
        if (status !== 200) return
        found[place] = body
        const list = Object.values(body as object).find(Array.isArray) as Json[] | undefined
        for (const item of list?.slice(0, FIRST) ?? []) {
          const id = ID.map((name) => item?.[name]).find((one) => typeof one === 'string')
          for (const below of routes.filter((one) => isBelow(path, one)))
            await read(below, place + below.slice(path.length).replace(/\{\w+\}/, String(id)))
        }
      }
      for (const path of routes.filter((one) => !one.includes('{'))) await read(path, path)
      return found
    },
  }
}

/** Whether a path has one parameter more: `/keys/{id}` and `/keys/{id}/limits` are below `/keys`. */
function isBelow(list: string, path: string): boolean {
  return path.startsWith(`${list}/{`) && !path.slice(list.length + 2).includes('{')
}

/** What of two answers is the same: members that change by themselves, such as times and signed links, are left out. */
export function sameIn(one: Json, other: Json): Json {
  if (Array.isArray(one) && Array.isArray(other))
    return one.length === other.length ? one.map((item, at) => sameIn(item, other[at])) : undefined
  if (!isObject(one) || !isObject(other)) return one === other ? one : undefined
  const members = Object.keys(one).map((name) => [name, sameIn(one[name], other[name])] as const)
  return Object.fromEntries(members.filter(([, value]) => value !== undefined))
}

/** What an answer has no more, or has otherwise: a sentence each. More members and items are no difference. */
export function lostIn(before: Json, now: Json, place = ''): string[] {
  if (Array.isArray(before)) {
    if (!Array.isArray(now)) return [`${place} is no list`]
    return before.flatMap((item, at) => {
      const id = isObject(item) ? ID.find((name) => typeof item[name] === 'string') : undefined
      return lostIn(item, id ? now.find((one) => one[id] === item[id]) : now[at], `${place}[${at}]`)
    })
  }
  if (!isObject(before))
    return before === now || isMeantAs(place, before, now)
      ? []
      : [`${place} was ${JSON.stringify(before)} and is ${JSON.stringify(now)}`]
  if (!isObject(now)) return [`${place} is gone`]
  const names = Object.keys(before).filter((name) => !MOVES.has(name))
  return names.flatMap((name) => lostIn(before[name], now[name], `${place}.${name}`))
}

/** The persona of a widget was a text, and an empty one was the usual persona, which is called `svc` now. */
const isMeantAs = (place: string, before: Json, now: Json): boolean =>
  place.endsWith('.behavior.persona') && before === '' && now === 'svc'

const isObject = (value: Json): boolean => typeof value === 'object' && value !== null
