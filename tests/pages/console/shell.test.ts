import { expect, test } from 'bun:test'
import { eventually } from '../../support/eventually'
import { inChromium } from '../support/chromium'
import { choose, createConsole, press, sees, write, wrongIn } from './support/console'

inChromium('the console', async () => {
  const { calls, open, person, world } = await createConsole()
  await calls(12)

  test('who has called nothing makes the first call and a key on the first page', async () => {
    const newcomer = await world.person()
    const { page, problems } = await open('', {}, newcomer)
    await sees(page, 'Your first call')
    expect(await wrongIn(page, 'start')).toEqual([])
    await page.setViewport({ width: 1280, height: 800 })
    await press(page, 'Create a key')
    await sees(page, 'It is shown only now')
    const curl = await page.$$eval('.steps .code code', (all) => all.at(-1)!.textContent!)
    const authorization = /Bearer svc_sk_\w+/.exec(curl)![0]
    expect((await world.send('GET', 'usage', undefined, { authorization })).status).toBe(200)
    await page.click('.steps .button.primary')
    await sees(page, '17 * 23 = 391')
    await press(page, 'See its trace', 'link')
    await sees(page, 'Where the')
    expect(problems).toEqual([])
  })

  test('what fails says so: no session, no right, no answer, no such page', async () => {
    const { page } = await open('/me/keys')
    await sees(page, 'test')
    await page.setRequestInterception(true)
    let status = 503
    page.on('request', (request) => {
      if (!request.url().includes('/api/v1/keys')) return void request.continue()
      const error = { code: 'service_unavailable', message: 'Busy now.', type: 'api_error', request_id: 'req_busy' }
      void request.respond({ status, contentType: 'application/json', body: JSON.stringify({ error }) })
    })
    await page.reload()
    await sees(page, 'Busy now.')
    await sees(page, 'req_busy')
    expect(await wrongIn(page, 'failing')).toEqual([])
    status = 401
    await page.setViewport({ width: 1280, height: 800 })
    await press(page, 'Retry')
    await sees(page, 'You were signed out')
    expect(await wrongIn(page, 'signed-out')).toEqual([])
    const nowhere = await open('/me/nowhere')
    await sees(nowhere.page, 'There is no such page')
    expect(await wrongIn(nowhere.page, 'nowhere')).toEqual([])
  })

  test('keys lead everywhere, and the palette finds sections and actions', async () => {
    const { page } = await open()
    await page.waitForSelector('.u-wrap')
    await page.keyboard.press('g')
    await page.keyboard.press('k')
    await page.waitForFunction(() => location.pathname.endsWith('/keys'))
    await page.keyboard.press('?')
    await sees(page, 'Single-key shortcuts')
    expect(await wrongIn(page, 'help')).toEqual([])
    await page.keyboard.press('Escape')
    await page.setViewport({ width: 1280, height: 800 })
    await page.keyboard.down('Control')
    await page.keyboard.press('k')
    await page.keyboard.up('Control')
    await page.waitForSelector('[role="listbox"]')
    await page.keyboard.type('playg')
    expect(await wrongIn(page, 'palette')).toEqual([])
    await page.keyboard.press('Enter')
    await page.waitForFunction(() => location.pathname.endsWith('/playground'))
  })

  test('single keys are switched off on every device of the reader', async () => {
    const { page } = await open('/me/settings')
    await sees(page, 'Single-key shortcuts')
    const isOn = async () => (await person.send('GET', 'settings')).body.shortcuts
    const turn = async () => {
      await page.click('.part .check input')
      await page.waitForNetworkIdle({ idleTime: 200 })
    }
    await turn()
    expect(await isOn()).toBe(false)
    const other = await open('/me/keys')
    await sees(other.page, 'test')
    await other.page.keyboard.press('?')
    await other.page.keyboard.press('g')
    await other.page.keyboard.press('o')
    expect(other.page.url()).toEndWith('/me/keys')
    expect(await other.page.$('.dialog')).toBeNull()
    await turn()
    expect(await isOn()).toBe(true)
  })

  test('shows what was called, in the policy and without another origin', async () => {
    const { page, problems } = await open('/me/overview?range=7d')
    await page.waitForSelector('.u-wrap')
    expect(page.url()).toEndWith('/console/me?range=7d')
    expect(await page.title()).toBe('Overview · Personal · svc')
    expect(await wrongIn(page, 'overview')).toEqual([])
    expect(problems).toEqual([])
  })

  test('a key is made, its secret shown once and used, and the key revoked', async () => {
    const { page, problems } = await open('/me/keys')
    await sees(page, 'test')
    expect(await wrongIn(page, 'keys')).toEqual([])
    await page.setViewport({ width: 1280, height: 800 })
    await press(page, 'Create key')
    await write(page, 'Name', 'Web shop')
    await choose(page, 'Chat parameters', 'honor')
    expect(await wrongIn(page, 'keys-new')).toEqual([])
    await page.setViewport({ width: 1280, height: 800 })
    await page.click('.form button[type=submit]')
    const field = await page.waitForSelector('.mono')
    const secret = await field!.evaluate((it) => (it as HTMLInputElement).value)
    expect((await world.send('GET', 'usage', undefined, { authorization: `Bearer ${secret}` })).status).toBe(200)
    expect(page.url()).not.toContain(secret)
    expect(await wrongIn(page, 'keys-secret')).toEqual([])
    await page.setViewport({ width: 1280, height: 800 })
    await page.click('.check input')
    await press(page, 'Done')
    await press(page, 'Web shop', 'link')
    await sees(page, 'Paid by')
    await sees(page, 'honored')
    expect(await wrongIn(page, 'keys-detail')).toEqual([])
    await page.setViewport({ width: 1280, height: 800 })
    await press(page, 'Change…')
    expect(await wrongIn(page, 'keys-change')).toEqual([])
    await page.setViewport({ width: 1280, height: 800 })
    await page.waitForSelector('.dialog .check input')
    await page.click('.dialog .check input')
    await choose(page, 'Expires', '90')
    await choose(page, 'Chat parameters', 'ignore')
    const cap = await page.waitForSelector('aria/Monthly cap, in dollars[role="spinbutton"]')
    await cap!.type('12.50')
    await page.click('.dialog button[type=submit]')
    await sees(page, 'of $12.50')
    await sees(page, 'ignored')
    const { keys } = (await person.send('GET', 'keys')).body
    const changed = keys.find(({ name }: { name: string }) => name === 'Web shop')
    expect(changed).toMatchObject({
      scopes: ['skills', 'tools', 'connectors', 'billing'],
      monthly_cap_cents: 1250,
      rpm_limit: null,
      chat_parameters: 'ignore',
    })
    expect(Date.parse(changed.expires_at) / 86_400_000 - Date.now() / 86_400_000).toBeCloseTo(90, 1)
    await press(page, 'Revoke…')
    await press(page, 'Revoke')
    await sees(page, 'revoked')
    const used = () => world.send('GET', 'usage', undefined, { authorization: `Bearer ${secret}` })
    await eventually(used, ({ status }) => status === 401)
    expect(problems).toEqual([])
    expect(person.userId).toBeDefined()
  })
})
