import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'puppeteer-core'
import { eventually } from '../../support/eventually'
import { cleanEnv, devKeyOf, startServerProcess } from '../../support/server-process'
import { inChromium, newPage } from '../support/chromium'
import { createConsole, press, sees } from './support/console'

const LOST = 'The server has not been reached since'

// A tab behind another draws nothing, and puppeteer's own waits wait for that.
const textOf = (page: Page) => page.evaluate(() => document.body.textContent)

inChromium('what the console shows when the connection does not hold', async () => {
  const { calls, open } = await createConsole()
  await calls(2)

  test('offline says so, keeps what is there, and comes back by itself', async () => {
    const { page } = await open('/me/requests')
    await page.waitForSelector('.table-body .tr')
    await page.setOfflineMode(true)
    await sees(page, '○ offline')
    expect(await page.$$eval('.table-body .tr', (rows) => rows.length)).toBe(2)
    await page.setOfflineMode(false)
    await page.waitForFunction(() => !document.body.textContent.includes('○ offline'))
    await page.close()
  })

  test('an unreachable server is retried until it answers; then the failed part is read', async () => {
    const { page } = await open('/me/requests')
    await page.waitForSelector('.table-body .tr')
    let isAway = true
    await page.setRequestInterception(true)
    page.on('request', (request) => {
      if (isAway && request.url().includes('/api/v1/')) void request.abort()
      else void request.continue()
    })
    await press(page, 'Keys', 'link')
    await sees(page, LOST)
    isAway = false
    await page.waitForFunction((lost: string) => !document.body.textContent.includes(lost), {}, LOST)
    await page.waitForSelector('.table-body .tr')
    await page.close()
  })

  test('a hidden page closes its stream, and reads what it missed when it is shown again', async () => {
    const { page } = await open('/me/requests')
    const rows = () => page.$$eval('.table-body .tr', ({ length }) => length)
    await eventually(rows, (many) => many === 2)
    const show = (isShown: boolean) =>
      page.evaluate((hidden: boolean) => {
        Object.defineProperty(document, 'hidden', { value: hidden, configurable: true })
        document.dispatchEvent(new Event('visibilitychange'))
      }, !isShown)
    const closed = new Promise((resolve) =>
      page.on('requestfailed', (request) => request.url().includes('/live') && resolve(true)),
    )
    await show(false)
    expect(await closed).toBe(true)
    await calls(1)
    await show(true)
    await eventually(rows, (many) => many === 3)
    await page.close()
  })

  test('of two tabs, the one that did not sign out says that it was signed out', async () => {
    const { page } = await open('/me/requests')
    const other = await page.browserContext().newPage()
    await other.goto(page.url())
    await other.waitForSelector('.table-body .tr')
    await page.bringToFront()
    await page.mouse.move(10, 10)
    await (await page.waitForSelector('button[aria-label^="Account"]'))!.click()
    await press(page, 'Sign out', 'menuitem')
    await sees(page, 'Sign in')
    await other.evaluate(() => document.querySelector<HTMLElement>('.side a[href$="/keys"]')!.click())
    await eventually(
      () => textOf(other),
      (text) => text.includes('You were signed out'),
    )
    await other.close()
    await page.close()
  })
})

inChromium('a console whose server starts again', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'svc-feeds-'))
  let server = await startServerProcess({ dataDir })
  afterAll(async () => {
    await server.kill()
    rmSync(dataDir, { recursive: true, force: true })
  })
  const ask = (prompt: string) =>
    fetch(`${server.url}/api/v1/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${devKeyOf(dataDir)}`, 'content-type': 'application/json' },
      body: JSON.stringify({ prompt, mode: 'fast' }),
    })

  test('says that it was lost, and shows what came meanwhile when it is back', async () => {
    await ask('What is 17 * 23?')
    const env = cleanEnv({ SVC_DATA_DIR: dataDir })
    const child = Bun.spawn(['./svc-admin', 'open', 'console', '--print'], { env, stdout: 'pipe' })
    const page = await newPage({ width: 1280, height: 800 })
    await page.goto(/https?:\S+/.exec(await new Response(child.stdout).text())![0])
    await (await page.waitForSelector('button[value="sign-in"]'))!.click()
    await page.waitForFunction(() => location.pathname.startsWith('/console/'))
    await page.goto(`${server.url}/console/me?range=24h`)
    const requests = (count: string) =>
      page.waitForFunction(
        (wanted: string) =>
          [...document.querySelectorAll('.figure')].some((it) => it.textContent.startsWith(`Requests${wanted}`)),
        {},
        count,
      )
    await requests('1')
    await server.stop()
    await eventually(
      () => textOf(page),
      (text) => text.includes(LOST),
    )
    server = await startServerProcess({ dataDir, port: server.port })
    await ask('What is 18 * 23?')
    await eventually(
      () => textOf(page),
      (text) => text.includes('Requests2') && !text.includes(LOST),
      40_000,
    )
    await page.close()
  })
})
