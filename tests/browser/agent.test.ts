import { describe, expect, test } from 'bun:test'
import { createBrowsingWorld, hasChromium, serveSite, startSession } from './support'

describe.skipIf(!hasChromium)('a run with a browser session (contract 16.4)', async () => {
  const world = await createBrowsingWorld()
  const person = await world.person()
  const site = serveSite({ '/': '<title>Shop</title><h1>Shop</h1>' })
  const tools = async (id: string) => {
    const { caller } = world.callAs(person)
    const call = { caller, requestId: 'req_x', route: 'POST /completions', signal: new AbortController().signal }
    return world.app.container.browser.toolsFor(call, id, false)
  }

  test('has the five tools of its session, which are recorded as the agent’s', async () => {
    const session = await startSession(person)
    const bound = await tools(session.id)
    expect(bound.map(({ name }) => name).sort()).toEqual([
      'browser_act',
      'browser_extract',
      'browser_navigate',
      'browser_observe',
      'browser_screenshot',
    ])
    const answer = await person.send('POST', 'completions', {
      prompt: `Use browser_navigate to open ${site.url()}`,
      mode: 'think',
      browser_session_id: session.id,
    })
    expect(answer.status).toBe(200)
    expect(answer.body.tools_used).toMatchObject([{ name: 'browser_navigate', status: 'success' }])
    const { actions } = (await person.send('GET', `browser/sessions/${session.id}/recording`)).body
    expect(actions).toMatchObject([{ by: 'agent', tool: 'browser_navigate', ok: true, url: site.url() }])
    await session.end()
  }, 30_000)

  test('of somebody else, or of one that is over, is not found', async () => {
    const session = await startSession(person)
    const order = { prompt: 'Look', mode: 'think', browser_session_id: session.id }
    const stranger = await world.person()
    expect((await stranger.send('POST', 'completions', order)).body.error.code).toBe('session_not_found')
    await session.end()
    expect((await person.send('POST', 'completions', order)).body.error.code).toBe('session_not_found')
  })

  test('without a session no browser tool is offered, though they are listed', async () => {
    const { body } = await person.send('GET', 'tools?category=browser')
    expect(body.tools).toHaveLength(5)
    expect(body.tools[0]).toMatchObject({ requiredScope: 'connectors', available: true })
    const answer = await person.send('POST', 'completions', {
      prompt: `Use browser_navigate to open ${site.url()}`,
      mode: 'think',
    })
    expect(answer.body.tools_used).toEqual([])
  })
})
