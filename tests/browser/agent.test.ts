import { describe, expect, test } from 'bun:test'
import { manifest, reviewer, submit } from '../skills/support'
import { eventually } from '../support/eventually'
import { createBrowsingWorld, hasChromium, serveSite, startSession } from './support'

describe.skipIf(!hasChromium)('a run with a browser session (docs/api.md 16.4)', async () => {
  const world = await createBrowsingWorld()
  const person = await world.person()
  const site = serveSite({
    '/': "<title>Shop</title><h1>Shop</h1><p>Price: $5.00</p><label>Quantity <input></label><button onclick=\"document.title='In the cart: '+document.querySelector('input').value\">Add to cart</button>",
  })
  const tools = async (id: string) => {
    const { caller } = world.callAs(person)
    const call = { caller, requestId: 'req_x', route: 'POST /completions', signal: new AbortController().signal }
    return world.app.container.browser.toolsFor(call, id, false)
  }

  test('has the five tools of its session, which are recorded as the agent’s', async () => {
    const session = await startSession(person)
    expect((await tools(session.id)).map(({ name }) => name).sort()).toEqual([
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
  }, 180_000)

  test('does what a plain prompt asks for in mode auto, one thing after the other, and stops where one fails', async () => {
    const session = await startSession(person, { url: site.url() })
    const ask = async (prompt: string, more: object = {}) =>
      (await person.send('POST', 'completions', { prompt, browser_session_id: session.id, ...more })).body
    const used = (answer: { tools_used: { name: string; status: string }[] }) =>
      answer.tools_used.map(({ name, status }) => `${name} ${status}`)
    const title = async () => (await person.send('GET', `browser/sessions/${session.id}`)).body.current_title

    const one = await ask('Click Add to cart in the browser')
    expect(one.resolved_mode).toBe('think')
    expect(used(one)).toEqual(['browser_act success'])
    expect(await title()).toBe('In the cart:')

    const several = await ask('Type "3" in Quantity, click Add to cart and then extract every price')
    expect(used(several)).toEqual(['browser_act success', 'browser_act success', 'browser_extract success'])
    expect(await title()).toBe('In the cart: 3')
    expect(several.content).toContain('$5.00')

    const failing = await ask('Click Nowhere and then click Add to cart')
    expect(used(failing)).toEqual(['browser_act error'])
    expect(failing.content).toContain('Nowhere')

    // What means no page is what it is without a session.
    const other = await ask('What is 17 * 23?')
    expect(other.tools_used).toEqual([])
    expect(other.content).toContain('391')
    const { body: plain } = await person.send('POST', 'completions', { prompt: 'Click Add to cart in the browser' })
    expect(plain.tools_used).toEqual([])
  }, 180_000)

  test('of somebody else, or of one that is over, is not found', async () => {
    const session = await startSession(person)
    const input = { prompt: 'Look', mode: 'think', browser_session_id: session.id }
    expect((await (await world.person()).send('POST', 'completions', input)).body.error.code).toBe('session_not_found')
    await session.end()
    expect((await person.send('POST', 'completions', input)).body.error.code).toBe('session_not_found')
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

  test('a skill with external:http begins one of its own where it is needed, which ends with the run', async () => {
    const admin = await reviewer(world)
    const ada = await world.person()
    const made = await submit(await world.person(), manifest({ permissions: ['external:http'] }))
    await admin.decide(made.id, 'approve')
    expect((await ada.send('POST', 'skills', { skillId: made.skillId })).status).toBeLessThan(300)
    const ask = (prompt: string) => ada.send('POST', 'completions', { prompt, mode: 'think' })
    expect((await ask('What is 17 * 23?')).body.tools_used).toEqual([])
    expect((await ada.send('GET', 'audit')).text).not.toContain('browser.session_created')

    const { body } = await ask(`Open ${site.url()} and then extract every price`)
    const used = body.tools_used.map(({ name, status }: Record<string, string>) => `${name} ${status}`)
    expect(used).toEqual(['browser_navigate success', 'browser_extract success'])
    expect(body.content).toContain('$5.00')
    await eventually(async () => (await ada.send('GET', 'audit')).text.includes('browser.session_ended'))
    expect((await ada.send('GET', 'browser/sessions')).body.sessions).toEqual([])
    // A key without the scope gets none.
    const small = await world.person({ scopes: ['completions', 'skills'] })
    await small.send('POST', 'skills', { skillId: made.skillId })
    const refused = await small.send('POST', 'completions', { prompt: `Open ${site.url()}`, mode: 'think' })
    const names = refused.body.tools_used.map(({ name }: { name: string }) => name)
    expect(names.filter((name: string) => name.startsWith('browser_'))).toEqual([])
  }, 180_000)
})
