import { expect, test } from 'bun:test'
import { eventually } from '../support/eventually'
import { devKeyOf, type ServerProcess } from '../support/server-process'
import { postgresUrl } from '../support/store'
import { startTwoNodes } from '../support/two-nodes'
import { hasChromium, serveSite } from './support'

if (!postgresUrl) process.stdout.write('NOT RUN: sessions on two nodes, because SVC_TEST_POSTGRES_URL is not set.\n')

test.skipIf(!postgresUrl || !hasChromium)(
  'a session of one node is worked, read and ended through another',
  async () => {
    const { one, other, home } = await startTwoNodes({ SVC_EGRESS_ALLOW: '127.0.0.1/32' })
    const site = serveSite({
      '/': '<title>Shop</title><script>let n=0</script><button onclick="document.title=\'Sold \'+(++n)">Buy</button>',
    })
    const key = devKeyOf(home)
    const send = async (node: ServerProcess, method: string, path: string, body?: object, more: object = {}) => {
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...more }
      const init = { method, headers, ...(body ? { body: JSON.stringify(body) } : {}) }
      const response = await fetch(`${node.url}/api/v1/browser/sessions${path}`, init)
      // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
      return { status: response.status, body: (await response.json()) as any }
    }
    const started = await send(one, 'POST', '', { url: site.url() })
    expect(started.status).toBe(201)
    const at = `/${started.body.session_id}`

    const click = { tool: 'browser_act', arguments: { instruction: 'click Buy' } }
    const once = { 'idempotency-key': crypto.randomUUID() }
    const acted = await send(other, 'POST', `${at}/actions`, click, once)
    expect(acted).toMatchObject({ status: 200, body: { status: 'success', live_view_version: 2 } })
    expect((await send(other, 'POST', `${at}/actions`, click, once)).body).toEqual(acted.body)
    expect((await send(one, 'GET', at)).body.current_title).toBe('Sold 1')
    const bad = await send(other, 'POST', `${at}/actions`, { tool: 'browser_act', arguments: {} })
    expect({ status: bad.status, code: bad.body.error.code }).toEqual({ status: 400, code: 'validation_error' })
    const live = await send(other, 'GET', `${at}/live?force=1`)
    expect(live.body.pages).toMatchObject([{ title: 'Sold 1', url: site.url() }])
    expect((await send(other, 'GET', `${at}/recording`)).body.actions).toHaveLength(1)

    // The page of the live view is at each node, and its stream is passed on from where the browser is.
    const { pathname, search, searchParams } = new URL(started.body.embed_url)
    for (const node of [one, other]) expect((await fetch(`${node.url}${pathname}${search}`)).status).toBe(200)
    const token = searchParams.get('token')
    const watch = (hello: object, at = pathname) => {
      const ws = new WebSocket(`${other.url.replace('http', 'ws')}${at}/stream`)
      const seen = { frames: 0, said: [] as { type: string; holder?: string; viewer?: string }[], code: 0 }
      const say = (message: object) => ws.send(JSON.stringify(message))
      ws.binaryType = 'arraybuffer'
      ws.onopen = () => say({ type: 'hello', ...hello })
      ws.onmessage = ({ data }) => {
        if (typeof data === 'string') return void seen.said.push(JSON.parse(data))
        seen.frames += 1
        say({ type: 'ack' })
      }
      ws.onclose = ({ code }) => {
        seen.code = code
      }
      return { seen, say }
    }
    const viewer = watch({ token })
    await eventually(() => viewer.seen.frames > 0 && viewer.seen.said.some(({ type }) => type === 'hello'))
    const me = viewer.seen.said.find(({ type }) => type === 'hello')!.viewer
    viewer.say({ type: 'take' })
    await eventually(() => viewer.seen.said.findLast(({ type }) => type === 'state')?.holder === me)
    viewer.say({ type: 'reload' })
    viewer.say({ type: 'release' })
    await eventually(async () => (await send(one, 'GET', `${at}/recording`)).body.actions.length === 2)
    // A forged token is refused as here; one that was passed on is passed no further.
    const [forged, again] = [watch({ token: token!.replace(/.$/, 'x') }), watch({ token, forwarded: true })]
    await eventually(() => forged.seen.code === 4401 && again.seen.code === 1013)

    expect((await send(other, 'DELETE', at)).status).toBe(200)
    expect((await send(one, 'GET', at)).body).toMatchObject({ status: 'ended', ended_reason: 'call' })
    await eventually(() => viewer.seen.code === 4410)
    expect((await send(other, 'POST', `${at}/actions`, click)).body.error.code).toBe('session_not_found')

    // A key that is revoked at one node ends its session at the other, and the link of it.
    const keys = (path: string, init: object) =>
      fetch(`${other.url}/api/v1/keys${path}`, {
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        ...init,
      })
    const second = (await (await keys('', { method: 'POST', body: '{}' })).json()) as { id: string; key: string }
    const link = new URL((await send(one, 'POST', '', {}, { authorization: `Bearer ${second.key}` })).body.embed_url)
    const looker = watch({ token: link.searchParams.get('token') }, link.pathname)
    await eventually(() => looker.seen.frames > 0)
    expect((await keys(`/${second.id}`, { method: 'DELETE' })).status).toBe(200)
    await eventually(() => looker.seen.code === 4410)

    // A node that was killed answers nobody; its session is over soon, and says so meanwhile.
    const next = await send(one, 'POST', '', {})
    await one.kill()
    expect((await send(other, 'POST', `/${next.body.session_id}/actions`, click)).status).toBe(404)
    await eventually(async () => (await send(other, 'GET', `/${next.body.session_id}`)).body.status === 'ended')
  },
  120_000,
)
