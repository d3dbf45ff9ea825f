import { describe, expect, test } from 'bun:test'
import { createSvc } from '../../client'
import { listen } from '../support/listening'
import { createBrowsingWorld, hasChromium, serveSite, startSession } from './support'

describe.skipIf(!hasChromium)('a browser session', async () => {
  const world = await createBrowsingWorld()
  const site = serveSite({
    '/': '<title>Shop</title><h1>Mugs</h1><button onclick="document.title=\'In\'">Sign in</button>',
    '/two': '<title>Two</title><a href="/">Home</a>',
  })
  const person = await world.person()

  test('starts on its page, is read, listed and ended, once', async () => {
    const greed = { expires_at: '2099-01-01T00:00:00Z', hard_cap_minutes: 9_999, owner_key: 'k1', args: ['--x'] }
    const session = await startSession(person, { url: site.url(), ...greed })
    // What nobody may set is ignored (docs/attacks.md E8).
    expect(Date.parse(session.handle.expires_at)).toBeLessThan(world.clock.now() + 86_400_000)
    expect(session.handle).toMatchObject({ live_view_version: 1, region: 'us-west-2', keep_alive: false })
    expect((await person.send('GET', `browser/sessions/${session.id}`)).body).toMatchObject({
      object: 'browser_session',
      status: 'active',
      current_title: 'Shop',
      proxies: false,
    })
    const listed = await person.send('GET', 'browser/sessions')
    expect(listed.body.sessions.map(({ session_id }: { session_id: string }) => session_id)).toEqual([session.id])
    expect(await session.act('click Sign in')).toMatchObject({
      tool: 'browser_act',
      status: 'success',
      live_view_version: 2,
      result: { success: true },
    })
    const live = await person.send('GET', `browser/sessions/${session.id}/live?force=1`)
    expect(live.body).toMatchObject({ live_view_version: 3, pages: [{ title: 'In', url: site.url() }] })
    // Without force it is what it was, for a minute or until a tool is called (docs/api.md 16.1).
    const titleNow = async (query = '') =>
      (await person.send('GET', `browser/sessions/${session.id}/live${query}`)).body.pages[0].title
    await world.app.container.browser.host
      .find(session.id as never)!
      .live.page()
      .evaluate("document.title = 'Later'")
    expect(await titleNow()).toBe('In')
    expect(await titleNow('?force=1')).toBe('Later')
    expect(await titleNow()).toBe('Later')
    await session.go(site.url('/two'))
    expect(await titleNow()).toBe('Two')
    const refusals: [object, string][] = [
      [{ tool: 'browser_act', arguments: { instruction: '' } }, '"instruction" must not be empty.'],
      [
        { tool: 'browser_extract', arguments: { instruction: 'the title', schema: { type: 'objekt' } } },
        '"schema.type" must be',
      ],
    ]
    for (const [input, sentence] of refusals) {
      const { status, body } = await person.send('POST', `browser/sessions/${session.id}/actions`, input)
      expect(status).toBe(400)
      expect(body.error?.message).toContain(sentence)
    }
    const ended = await session.end()
    expect(ended.body).toMatchObject({ session_id: session.id, proxy_bytes: 0, cost_cents: 1 })
    expect((await session.end()).body).toMatchObject({ ...ended.body, request_id: expect.any(String) })
    expect((await person.send('GET', 'browser/sessions')).body.sessions).toEqual([])
    expect(
      (await person.send('POST', `browser/sessions/${session.id}/actions`, { tool: 'browser_observe' })).body.error
        .code,
    ).toBe('session_not_found')
  })
  test('is opened, listed and closed by the client for users (docs/api.md 23.1)', async () => {
    const svc = createSvc({ apiKey: person.key, baseUrl: listen(world).origin })
    const { session_id } = await svc.browser.open({ url: site.url() })
    expect((await svc.browser.sessions()).map((one) => one.session_id)).toEqual([session_id])
    await svc.browser.close(session_id)
    expect(await svc.browser.sessions()).toEqual([])
  })
})
