import { expect, test } from 'bun:test'
import { eventually } from '../../support/eventually'
import { inChromium } from '../support/chromium'
import { choose, createConsole, press, sees, write, wrongIn } from './support/console'

inChromium('the lists of the console', async () => {
  const { calls, open, world } = await createConsole()
  const member = await world.person({ ofOrg: true })
  await calls(3)

  test.each([
    ['jobs', 'No jobs yet'],
    ['engines', 'svc-1-flash'],
    ['webhooks', 'No endpoints'],
    ['audit', 'completion.created'],
    ['team', 'Only you'],
  ])('%s', async (section, text) => {
    const { page, problems } = await open(`/me/${section}`)
    await sees(page, text)
    expect(
      await wrongIn(page, text.startsWith('No') || text.startsWith('Only') ? `${section}-empty` : section),
    ).toEqual([])
    expect(problems).toEqual([])
  })

  test('the address says whose rows are shown: the same session sees its organization and itself', async () => {
    const { page } = await open('', {}, member)
    await page.waitForFunction(() => /console\/org-\d+$/.test(location.pathname))
    const team = `${new URL(page.url()).pathname.slice('/console'.length)}/team`
    const other = await open(team, {}, member)
    await sees(other.page, 'owner')
    expect(await wrongIn(other.page, 'team-org')).toEqual([])
  })

  test('a key is made with what it is bound to, beside what its owner may spend', async () => {
    const maker = await world.person({ ofOrg: false })
    await maker.send('PATCH', 'billing/limits', { scope: 'user', monthly_cap_cents: 5_000 })
    const preference = (await maker.send('POST', 'routing-preferences', { name: 'Short answers' })).body
    const policy = (await maker.send('POST', 'guardrail-policies', { name: 'No secrets' })).body
    const { page, problems } = await open('/me/keys/new', {}, maker)
    await write(page, 'Name', 'shop')
    await sees(page, 'Empty: that of the account, $50.00, of which $0.00 is spent.')
    await choose(page, 'Routing preference', preference.id)
    await choose(page, 'Guardrail policy', policy.id)
    await write(page, 'Tone', 'Calm')
    expect(await wrongIn(page, 'keys-new')).toEqual([])
    await page.setViewport({ width: 1280, height: 800 })
    await page.click('.form button[type=submit]')
    await sees(page, 'shown only now')
    const bound = { routing_preference_id: preference.id, guardrail_policy_id: policy.id }
    const made = async () =>
      (await maker.send('GET', 'keys')).body.keys.find(({ name }: { name: string }) => name === 'shop')
    await eventually(made, (key) => key.routing_preference_id !== null && key.guardrail_policy_id !== null)
    expect(await made()).toMatchObject({ ...bound, brand_soul: { enabled: true, tone: 'Calm', persona: '' } })
    expect(problems).toEqual([])
  })

  test('a key of an organization is offered what the organization has', async () => {
    const owner = await world.person({ ofOrg: true })
    const { slug } = (await owner.send('GET', `orgs/${owner.orgId}`)).body
    const session = await world.signedIn(owner)
    for (const [sender, scope] of [
      [session, 'personal'],
      [owner, 'team'],
    ] as const) {
      const { status } = await sender.send('POST', 'routing-preferences', { name: `Short, ${scope}`, scope })
      expect(status).toBe(201)
    }
    const { page } = await open(`/${slug}/keys/new`, {}, owner)
    const offered = () => page.$$eval('option', (all) => all.map(({ textContent }) => textContent))
    await eventually(offered, (names) => names.includes('Short, team'))
    expect(await offered()).not.toContain('Short, personal')
    await page.close()
  })

  test('an endpoint is added, its secret shown once, tested and deleted', async () => {
    const { page, problems } = await open('/me/webhooks')
    await sees(page, 'No endpoints')
    await press(page, 'Add endpoint')
    // What is opened to be filled in has the focus in its first field.
    await page.waitForSelector('.drawer input:focus')
    await page.keyboard.type('https://203.0.112.7/hook')
    await page.click('.form button[type=submit]')
    await sees(page, 'shown only now')
    await press(page, 'I have stored it')
    await press(page, 'https://203.0.112.7/hook', 'link')
    await sees(page, 'No deliveries yet')
    expect(await wrongIn(page, 'webhooks-detail')).toEqual([])
    await page.setViewport({ width: 1280, height: 800 })
    await press(page, 'Delete…')
    await press(page, 'Delete')
    await sees(page, 'No endpoints')
    expect(problems).toEqual([])
  })
})
