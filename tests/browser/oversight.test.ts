import { describe, expect, test } from 'bun:test'
import { operatorSender } from '../operators/support'
import { cliOver } from '../support/cli'
import { createBrowsingWorld, hasChromium, serveSite, startSession } from './support'

describe.skipIf(!hasChromium)('what operators do with the sessions of everyone (dx 2.15)', async () => {
  const world = await createBrowsingWorld()
  const send = operatorSender(world)
  const run = cliOver(world)
  const site = serveSite({
    '/': '<title>Shop</title><button onclick="document.title=\'Sold\'">Buy</button><p>Price: $5.00</p>',
  })
  const json = async (line: string[], options = {}) => JSON.parse((await run([...line, '--json'], options)).stdout)

  test('they see them, without a link; each link they make is in the chain of its owner', async () => {
    const [ada, eve] = [await world.person(), await world.person()]
    const [one, other] = [await startSession(ada, { url: site.url() }), await startSession(eve)]
    const { sessions } = (await send('GET', 'browser/sessions')).body
    expect(sessions.map(({ session_id }: { session_id: string }) => session_id)).toEqual([one.id, other.id])
    expect(sessions[0]).toMatchObject({ owner: `user:${ada.userId}`, embed_url: null, live_view_url: null, viewers: 0 })
    const hers = (await send('GET', `browser/sessions?owner=user:${eve.userId}`)).body.sessions
    expect(hers.map(({ session_id }: { session_id: string }) => session_id)).toEqual([other.id])
    expect((await send('GET', 'browser/sessions?owner=nobody')).status).toBe(404)
    expect((await send('GET', 'browser/sessions/bb_sess_x')).body.error.code).toBe('session_not_found')

    const view = (await send('POST', `browser/sessions/${one.id}/link`, {})).body
    const control = (await send('POST', `browser/sessions/${one.id}/link`, { control: true })).body
    expect([view.rights, control.rights]).toEqual(['view', 'control'])
    for (const { url } of [view, control]) {
      const page = await world.app.api.handle(new Request(url.replace(/^https?:\/\/[^/]+/, 'http://localhost')))
      expect(page.status).toBe(200)
    }
    const chain = (await ada.send('GET', 'audit')).body
    expect(chain.slice(0, 2).map(({ action }: { action: string }) => action)).toEqual([
      'browser.link_created',
      'browser.link_created',
    ])
    await one.end()
    await other.end()
    expect((await send('POST', `browser/sessions/${one.id}/link`, {})).status).toBe(404)
  }, 180_000)

  test('they act in one and end it, which its owner pays and can read', async () => {
    const ada = await world.person()
    const session = await startSession(ada, { url: site.url() })
    const order = { tool: 'browser_act', arguments: { instruction: 'click Buy' } }
    expect((await send('POST', `browser/sessions/${session.id}/actions`, order)).body).toMatchObject({
      status: 'success',
      live_view_version: 2,
    })
    expect((await send('GET', `browser/sessions/${session.id}/recording`)).body.actions).toHaveLength(1)
    const ended = (await send('DELETE', `browser/sessions/${session.id}`)).body
    expect((await session.end()).body).toMatchObject({ ...ended, request_id: expect.any(String) })
    expect((await ada.send('GET', `browser/sessions/${session.id}`)).body.ended_reason).toBe('call')
    const chain = (await ada.send('GET', 'audit')).body
    expect(chain.slice(0, 2).map(({ action }: { action: string }) => action)).toEqual([
      'browser.session_ended',
      'browser.action',
    ])
  }, 180_000)

  test('svc-admin browser does all of it, for operators and with a key', async () => {
    const ada = await world.person()
    const made = await json(['browser', 'create', '--page', site.url()], { key: ada.key })
    const id: string = made.session_id
    expect(made.embed_url).toContain('/embed/browser/')
    for (const options of [{}, { key: ada.key }]) {
      const found = await json(['browser', 'list'], options)
      expect(found.map(({ session_id }: { session_id: string }) => session_id)).toEqual([id])
      expect(await json(['browser', 'get', id], options)).toMatchObject({ current_url: site.url(), status: 'active' })
      expect((await json(['browser', 'open', id], options)).rights).toBe('view')
      expect((await json(['browser', 'open', id, '--control'], options)).url).toContain('.control.')
    }
    const acted = await json(['browser', 'act', id, 'click Buy'], { key: ada.key })
    expect(acted).toMatchObject({ tool: 'browser_act', status: 'success' })
    const prices = await json(['browser', 'act', id, 'every price', '--tool', 'extract'])
    expect(prices.result).toEqual({ data: ['$5.00'] })
    expect((await run(['browser', 'act', id, 'click Nowhere'])).exitCode).toBe(9)
    expect(await json(['browser', 'steps', id])).toMatchObject([
      { by: 'api', input: 'click Buy', ok: true },
      { input: 'every price', ok: true },
      { input: 'click Nowhere', ok: false },
    ])
    expect((await run(['browser', 'end'], { key: ada.key })).exitCode).toBe(2)
    const ended = await json(['browser', 'end', '--all', '--yes'], { key: ada.key })
    expect(ended).toMatchObject([{ session_id: id, proxy_bytes: 0 }])
    const watched = await run(['browser', 'watch', id])
    expect(watched.stderr.split('\n').filter((line) => line.includes('browser_'))).toHaveLength(3)
    expect(watched.stderr).toContain('It ended at')
    expect((await run(['browser', 'open', id], { key: ada.key })).exitCode).toBe(9)
    expect((await run(['browser', 'list'])).stderr).toContain('No browser session is open.')
  }, 180_000)
})
