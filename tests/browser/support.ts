import { afterAll, onTestFinished, setDefaultTimeout } from 'bun:test'
import { findChromium } from '../../src/browser/chromium'
import { sessionRepository } from '../../src/browser/repository'
import { BrowserSessionId } from '../../src/browser/schema'
import type { KeyId } from '../../src/kernel/ids'
import { createWorld, type Person, type World } from '../support/world'

/** Without a Chromium on this machine nothing of this module can be tried; it is said, once, and not passed over. */
export const hasChromium = findChromium({ browserPath: '' }) !== null
if (!hasChromium) process.stderr.write('\nNO CHROMIUM: the tests of browser sessions are skipped. Install it.\n\n')

// A browser on a busy machine takes its time.
setDefaultTimeout(180_000)

type Options = Parameters<typeof createWorld>[0]

/** A world whose sessions may open pages of 127.0.0.1, where the sites of the tests are. */
export const createBrowsingWorld = ({ config, ...options }: NonNullable<Options> = {}): Promise<World> =>
  createWorld({ ...options, config: { egressAllow: '127.0.0.1/32', browserSessionsPerUser: 50, ...config } })

/** A site on loopback: its pages by path. */
export function serveSite(pages: Record<string, string | ((request: Request) => Response | Promise<Response>)>) {
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    development: false,
    fetch(request) {
      const page = pages[new URL(request.url).pathname]
      if (page === undefined) return new Response('none', { status: 404 })
      if (typeof page === 'function') return page(request)
      return new Response(page, { headers: { 'content-type': 'text/html; charset=utf-8' } })
    },
  })
  afterAll(() => server.stop(true))
  return { url: (path = '/') => `http://127.0.0.1:${server.port}${path}`, port: server.port! }
}

export type Session = Awaited<ReturnType<typeof startSession>>

/** A session of a person, and short words for what is done in it. It ends with its test unless others share it. */
export async function startSession(person: Person, input: object = {}, isShared = false) {
  const started = await person.send('POST', 'browser/sessions', input)
  if (started.status !== 201) throw new Error(`the session did not start: ${started.text}`)
  const id: string = started.body.session_id
  const action = async (tool: string, args: object = {}) =>
    (await person.send('POST', `browser/sessions/${id}/actions`, { tool, arguments: args })).body
  const end = () => person.send('DELETE', `browser/sessions/${id}`)
  if (!isShared) onTestFinished(async () => void (await end()))
  return {
    id,
    handle: started.body,
    action,
    go: (url: string) => action('browser_navigate', { url }),
    act: (instruction: string, more: object = {}) => action('browser_act', { instruction, ...more }),
    extract: async (instruction: string, schema?: object) =>
      (await action('browser_extract', { instruction, ...(schema ? { schema } : {}) })).result.data,
    observe: async (instruction?: string) =>
      (await action('browser_observe', instruction ? { instruction } : {})).result.elements,
    end,
  }
}

/** The row of an open session without a browser, for tests of who may see it. */
export async function rowOf(world: World, person: Person): Promise<string> {
  const { caller } = world.callAs(person)
  const owner = person.orgId ? (`org:${person.orgId}` as const) : (`user:${person.userId}` as const)
  const now = world.clock.now()
  const id = BrowserSessionId.create()
  const row = {
    ...{ id, owner, holder: person.keyId, user_id: caller.userId, key_id: person.keyId as KeyId, request_id: 'req_x' },
    ...{ node: 'elsewhere', region: 'us-west-2', keep_alive: false, proxies: false, recorded: true, reason: null },
    ...{ started_at: now, expires_at: now + 60_000, last_active_at: now, seen_at: now, ended_at: null },
    ...{ url: null, title: null, favicon_url: null, proxy_bytes: 0, viewers: 0, hold: null, cost_micro: 0 },
    ...{ refused_at: null, view_version: 1 },
    ...{ caps: { daily: null, monthly: null }, state: 'active' as const },
  }
  await world.app.container.store.write((tx) => sessionRepository.insert(tx, row))
  return id
}
