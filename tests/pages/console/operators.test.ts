import { expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { sessions } from '../../../src/accounts/auth/table'
import { users } from '../../../src/accounts/orgs/table'
import { eventually } from '../../support/eventually'
import { inChromium } from '../support/chromium'
import { createConsole, go, press, sees, wrongIn } from './support/console'
import { furnish } from './support/furnished'

const PASSWORD = 'correct horse battery'
/** What operators see, with a text of each; what a row opens follows a bar. */
const SCREENS = [
  ['', 'per minute, all owners'],
  ['requests', 'POST /completions'],
  ['inbox', 'Ines'],
  ['jobs', 'No jobs yet'],
  ['engines', 'builtin:builtin'],
  ['engines?tab=prices', 'for a million tokens in'],
  ['engines?tab=aliases', 'No aliases'],
  ['engines?tab=cache', 'Memory'],
  ['routing', 'Support'],
  ['guardrails', 'Personal data'],
  ['skills', 'Warnings'],
  ['workflows', 'Greeting'],
  ['workflows?tab=canvases', 'Answer in one sentence'],
  ['workflows?tab=hooks', 'order.created'],
  ['workflows?tab=events', 'order.created'],
  ['widgets', 'Lamp shop'],
  ['browser', 'No live browser.'],
  ['webhooks', '203.0.112.7'],
  ['files', 'No files yet'],
  ['keys', 'test'],
  ['audit', 'completion.created'],
  ['platform', 'Operator'],
  ['platform?tab=orgs', 'org-'],
  ['platform?tab=limits', 'No requests for a higher'],
  ['platform?tab=tiers', 'enterprise'],
  ['platform?tab=health', 'answers in'],
  ['platform?tab=backups', 'No backup'],
  ['platform?tab=books', 'they agree'],
  ['platform?tab=doctor', 'Fixed by'],
  ['platform?tab=operators', 'No operator keys'],
  ['platform?tab=configuration', 'Port of the API'],
] as const

inChromium('the console of operators', async () => {
  const { calls, open, person, world } = await createConsole()
  await furnish({ world, person })
  await calls(3)
  const org = await world.person({ ofOrg: true })
  const admin = await world.person({ ofOrg: false })
  await world.app.store.write((tx) =>
    tx
      .update(tx.of(users))
      .set({ platform_role: 'admin' })
      .where(eq(tx.of(users).id, admin.userId)),
  )

  test.each(SCREENS)('%s', async (path, text) => {
    const { page, problems } = await open(`/all/${path}`, {}, admin)
    await sees(page, text)
    expect(await page.$$eval('.side [aria-current]', (all) => all.length)).toBe(1)
    expect(await wrongIn(page, `all-${path.replace(/\?.*tab=/, '-') || 'overview'}`)).toEqual([])
    expect(problems).toEqual([])
    await page.close()
  })

  test('what is read of one owner at a time is not shown for all of them', async () => {
    const { page, problems } = await open('/all/guardrails', {}, admin)
    await sees(page, 'Personal data')
    expect(await page.$$('.tabs')).toEqual([])
    await go(page, `/console/user:${person.userId}/guardrails`)
    await sees(page, 'Fired')
    await eventually(
      () => page.$$eval('.table-body [role="cell"]', (cells) => cells.map((cell) => cell.textContent)),
      (cells) => cells.includes('never'),
    )
    expect(problems).toEqual([])
    await page.close()
  })

  test('a reviewer opens every section, and is told which members the role does not see', async () => {
    const reviewer = await world.person({ ofOrg: false })
    await world.app.store.write((tx) =>
      tx
        .update(tx.of(users))
        .set({ operator_role: 'reviewer' })
        .where(eq(tx.of(users).id, reviewer.userId)),
    )
    const { page, problems } = await open('/all/workflows?tab=canvases', {}, reviewer)
    await press(page, 'Answer in one sentence', 'link')
    await sees(page, 'Your role reviewer does not see what people wrote')
    const failed: string[] = []
    for (const [path] of SCREENS.filter(([path]) => !/inbox/.test(path))) {
      await go(page, `/console/all/${path}`)
      await page.waitForNetworkIdle({ idleTime: 200 })
      if (await page.$('.failed')) failed.push(path)
    }
    expect(failed).toEqual([])
    // Operator keys are for admins alone.
    const tabs = () => page.$$eval('.tabs a', (all) => all.map((tab) => tab.textContent))
    await go(page, '/console/all/platform')
    await eventually(tabs, (names) => names.includes('Doctor'))
    expect(await tabs()).not.toContain('Operators')
    expect(problems).toEqual([])
    await page.close()
  })

  test('an account is opened, credit is granted, and what is theirs is looked at', async () => {
    const { page, problems } = await open(`/all/platform/${person.userId}`, {}, admin)
    await sees(page, 'Grant credit…')
    expect(await wrongIn(page, 'all-platform-row')).toEqual([])
    await page.setViewport({ width: 1280, height: 800 })
    await press(page, 'Grant credit…')
    await page.waitForSelector('.dialog input[type=number]')
    await page.type('.dialog input[type=number]', '12')
    await page.type('.dialog input[type=text]', 'For testing')
    await press(page, 'Grant credit')
    await sees(page, '$112.00')
    await press(page, 'See their account', 'link')
    await sees(page, 'Reads are recorded.')
    expect(await wrongIn(page, 'all-looking')).toEqual([])
    for (const [section, seen] of [
      ['keys', 'test'],
      ['jobs', 'No jobs yet'],
      ['', 'Errors and cache hits'],
      ['routing?tab=corrections', 'Write a poem'],
      ['workflows', 'Greeting'],
      ['billing', 'For testing'],
      ['audit', 'operator.viewed_owner'],
    ] as const) {
      await go(page, `/console/user:${person.userId}/${section}`)
      await sees(page, seen)
      expect(await page.$$('.failed')).toEqual([])
    }
    await page.setViewport({ width: 1280, height: 800 })
    await go(page, `/console/all/platform/${person.userId}`)
    await press(page, 'Their requests', 'link')
    await page.waitForSelector('.table a')
    await sees(page, 'test')
    expect(await wrongIn(page, 'all-looking-requests')).toEqual([])
    await page.setViewport({ width: 1280, height: 800 })
    await page.click('.table a')
    await sees(page, 'completion.created')
    expect(await wrongIn(page, 'all-looking-request')).toEqual([])
    await page.setViewport({ width: 1280, height: 800 })
    await go(page, `/console/org:${org.orgId}/team`)
    await sees(page, 'owner')
    expect(problems).toEqual([])
    await page.close()
  })

  test('a change of money asks for the password after an old sign-in, and keeps the input', async () => {
    const { send } = await world.signedIn(admin)
    const change = (to: { link_at: number } | { proved_at: number }) =>
      world.app.store.write((tx) => {
        const t = tx.of(sessions)
        return tx.update(t).set(to).where(eq(t.user_id, admin.userId))
      })
    // Who came by a link a moment ago sets a first password.
    await change({ link_at: Date.now() })
    expect((await send('POST', 'auth/password', { new: PASSWORD })).status).toBe(200)
    const { page } = await open(`/all/platform/${person.userId}`, {}, admin)
    await sees(page, 'Grant credit…')
    await change({ proved_at: 1 })
    await press(page, 'Grant credit…')
    await page.waitForSelector('.dialog input[type=number]')
    await page.type('.dialog input[type=number]', '3')
    await page.type('.dialog input[type=text]', 'For more testing')
    await press(page, 'Grant credit')
    await sees(page, 'Confirm that it is you')
    expect(await wrongIn(page, 'confirm')).toEqual([])
    await page.setViewport({ width: 1280, height: 800 })
    const enter = async (password: string) => {
      await page.waitForSelector('.dialog input[type=password]')
      await page.type('.dialog input[type=password]', password)
      await press(page, 'Confirm')
    }
    await enter('wrong horse')
    await page.waitForSelector('.dialog .problem')
    await page.$eval('.dialog input[type=password]', (field) => (field as HTMLInputElement).select())
    await enter(PASSWORD)
    await page.waitForFunction(() => !document.querySelector('.dialog input[type=password]'))
    expect(await page.$eval('.dialog input[type=number]', (field) => (field as HTMLInputElement).value)).toBe('3')
    const credit = async () => (await person.send('GET', 'usage')).body.balance.balance_cents
    const before = await credit()
    await press(page, 'Grant credit')
    await page.waitForFunction(() => !document.querySelector('.dialog'))
    expect(await credit()).toBe(before + 300)
    await page.close()
  })
})
