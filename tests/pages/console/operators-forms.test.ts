import { afterAll, expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { users } from '../../../src/accounts/orgs/table'
import { staffManifest, submit } from '../../skills/support'
import { eventually } from '../../support/eventually'
import { startUpstream } from '../../support/upstream'
import { LOCAL } from '../../webhooks/support'
import { inChromium } from '../support/chromium'
import { createConsole, go, press, sees, write, wrongIn } from './support/console'

inChromium('forms of operators', async () => {
  const upstream = await startUpstream()
  afterAll(() => upstream.stop())
  const { open, person, world } = await createConsole({ config: LOCAL })
  const admin = await world.person({ ofOrg: false })
  await world.app.store.write((tx) =>
    tx
      .update(tx.of(users))
      .set({ platform_role: 'admin' })
      .where(eq(tx.of(users).id, admin.userId)),
  )

  test('an engine is tried before it is saved, answers the next call, and shows its day', async () => {
    const { page, problems } = await open('/all/engines', {}, admin)
    await press(page, 'Add engine')
    await write(page, 'Name', 'main')
    await write(page, 'Address', 'http://127.0.0.1:9/v1')
    await write(page, 'Models', 'scripted')
    expect(await wrongIn(page, 'all-engines-new')).toEqual([])
    await page.setViewport({ width: 1280, height: 800 })
    await press(page, 'Test and save')
    await sees(page, 'nothing was saved')
    const address = (await page.waitForSelector('aria/Address[role="textbox"]'))!
    await address.click({ count: 3 })
    await address.type(upstream.url)
    await press(page, 'Test and save')
    // The scripted engine does not do all that is tried.
    await sees(page, 'Hello from the scripted upstream.')
    await press(page, 'Save anyway Calls that need what failed go to the next engine of their mode.', 'checkbox')
    await press(page, 'Save')
    await page.waitForFunction(() => location.pathname.endsWith('/engines'))
    await sees(page, 'main:scripted')
    const answer = await person.send('POST', 'completions', { prompt: 'Who answers?', mode: 'fast' })
    expect(answer.body.content).toContain('scripted upstream')
    await page.goto(`${new URL(page.url()).origin}/console/all/engines`)
    await press(page, 'fast', 'link')
    await sees(page, 'Calls in 1 part of the day')
    expect(await wrongIn(page, 'all-engines-row')).toEqual([])
    await page.setViewport({ width: 1280, height: 800 })
    const content = async (prompt: string) =>
      (await person.send('POST', 'completions', { prompt, mode: 'fast' })).body.content
    await press(page, 'Pause…')
    await press(page, 'Pause')
    await eventually(
      () => content('Who is there?'),
      (text) => !text.includes('scripted upstream'),
    )
    await go(page, '/console/all/engines?state=off')
    await page.waitForSelector('.table-body .tr a')
    await page.click('.table-body .tr a')
    await press(page, 'Use again')
    await eventually(
      () => content('Who is there now?'),
      (text) => text.includes('scripted upstream'),
    )
    expect(problems).toEqual([])
    await page.close()
  })

  test('a price is written in dollars for a million tokens', async () => {
    const { page, problems } = await open('/all/engines?tab=prices', {}, admin)
    await press(page, 'svc-1-flash', 'link')
    await press(page, 'Change…')
    const field = (await page.waitForSelector('aria/For a million tokens in, in dollars[role="spinbutton"]'))!
    await field.click({ count: 3 })
    await field.type('2.5')
    await press(page, 'Change')
    await sees(page, '$2.50 for a million tokens in')
    expect(problems).toEqual([])
    await page.close()
  })

  test('a submission is rejected with words that reviewers say often, and what is particular', async () => {
    const author = await world.person({ ofOrg: false })
    const { id, slug } = await submit(author, staffManifest())
    const { page, problems } = await open('/all/skills', {}, admin)
    await press(page, slug, 'link')
    await press(page, 'Reject…')
    await press(page, 'Description')
    await write(page, 'Reason, for the author', 'Whom is it for?')
    expect(await wrongIn(page, 'all-skills-reject')).toEqual([])
    await page.setViewport({ width: 1280, height: 800 })
    await press(page, 'Reject')
    await page.waitForFunction(() => !document.querySelector('.dialog'))
    const { body } = await author.send('GET', `skills/submissions/${id}`)
    expect(body.submission).toMatchObject({
      status: 'rejected',
      reason: expect.stringMatching(/^The description does not say .*Whom is it for\?$/),
    })
    expect(problems).toEqual([])
    await page.close()
  })

  test('a limit is approved with what the key gets, and an operator key is shown once', async () => {
    const asker = await world.person({ tier: 'free' })
    const asks = { requested_tier: 'pro', use_case: 'A shop', expected_volume: 'some', key_id: asker.keyId }
    expect(
      (await (await world.signedIn(asker)).send('POST', 'rate-limits/request-increase', asks)).status,
    ).toBeLessThan(300)
    const { page, problems } = await open('/all/platform?tab=limits', {}, admin)
    await page.waitForSelector('[role="row"] a')
    await page.click('[role="row"] a')
    await press(page, 'Approve…')
    await press(page, 'Approve')
    await sees(page, 'approved')
    await page.goto(`${new URL(page.url()).origin}/console/all/platform?tab=operators`)
    await press(page, 'Create operator key')
    await write(page, 'Name', 'Deploys')
    await page.click('.form button[type=submit]')
    await sees(page, 'svc_op_')
    expect(problems).toEqual([])
    await page.close()
  })
})
