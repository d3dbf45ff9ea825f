import { expect, test } from 'bun:test'
import { inChromium } from '../support/chromium'
import { createConsole, press, sees, write, wrongIn } from './support/console'

inChromium('the console', async () => {
  const { calls, open, person, world } = await createConsole()
  await calls(12)

  test('shows what was called, in the policy and without another origin', async () => {
    const { page, problems } = await open()
    await page.waitForSelector('.u-wrap')
    expect(page.url()).toEndWith('/console/me')
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
    expect(await wrongIn(page, 'keys-detail')).toEqual([])
    await page.setViewport({ width: 1280, height: 800 })
    await press(page, 'Revoke…')
    await press(page, 'Revoke')
    await sees(page, 'revoked')
    expect((await world.send('GET', 'usage', undefined, { authorization: `Bearer ${secret}` })).status).toBe(401)
    expect(problems).toEqual([])
    expect(person.userId).toBeDefined()
  })
})
