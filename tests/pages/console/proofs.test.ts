import { expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import type { Page } from 'puppeteer-core'
import { sessions } from '../../../src/accounts/auth/table'
import { usageRecords } from '../../../src/usage/table'
import { inChromium, newPage } from '../support/chromium'
import { createConsole, sees, tabTo } from './support/console'
import { furnish } from './support/furnished'

const MANY = 100_000
const CHUNK = 1_000
const FRAMES = 300
const ROWS_A_FRAME = 5
/** Main-thread time of a frame while rows scroll. */
const FRAME_MS = 16

inChromium('the console, by keyboard and at length', async () => {
  const { calls, open, origin, person, world } = await createConsole()
  await furnish({ world, person })

  test('a preference is made without a pointer, and the focus is seen at each step', async () => {
    const { page, problems } = await open('/me/keys')
    await sees(page, 'test')
    await page.keyboard.press('g')
    await page.keyboard.press('r')
    await page.waitForFunction(() => location.pathname.endsWith('/requests'))
    await page.goto(page.url().replace('/requests', '/routing'))
    await sees(page, 'Support')
    await page.keyboard.press('n')
    await page.waitForFunction(() => location.pathname.endsWith('/routing/new'))
    await tabTo(page, 'Name')
    await page.keyboard.type('By keys')
    await tabTo(page, 'Add rule')
    await page.keyboard.press('Enter')
    await page.waitForSelector('.rows > li')
    await tabTo(page, 'Pattern', { back: true })
    await page.keyboard.type('invoice')
    await tabTo(page, 'Create preference')
    await page.keyboard.press('Enter')
    await sees(page, 'By keys')
    await page.waitForFunction(() => location.pathname.endsWith('/routing'))
    // Something typed is not lost by a slip: anyone who closes is asked.
    await page.keyboard.press('n')
    await tabTo(page, 'Name')
    await page.keyboard.type('Half')
    await page.keyboard.press('Escape')
    await sees(page, 'What you changed here was not saved.')
    expect(problems).toEqual([])
    await page.close()
  })

  test('the first Tab leads past the sections, and a section that is opened has the focus', async () => {
    const { page, problems } = await open('/me/keys')
    await sees(page, 'Prefix')
    await tabTo(page, 'Skip to the content', { within: '.skip' })
    await page.keyboard.press('Enter')
    await page.keyboard.press('Tab')
    expect(await page.evaluate(() => document.activeElement?.closest('main') !== null)).toBe(true)
    await tabTo(page, 'Routing', { back: true, within: '.side a' })
    await page.keyboard.press('Enter')
    await page.waitForFunction(() => document.activeElement?.matches('h1') && document.activeElement.textContent)
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Routing')
    await tabTo(page, 'New preference')
    expect(problems).toEqual([])
    await page.close()
  })

  test('a person signs in, makes a key and asks without a pointer', async () => {
    const PASSWORD = 'correct horse battery'
    const newcomer = await world.person({ ofOrg: false })
    const session = await world.signedIn(newcomer)
    await world.app.store.write((tx) =>
      tx
        .update(tx.of(sessions))
        .set({ link_at: Date.now() })
        .where(eq(tx.of(sessions).user_id, newcomer.userId)),
    )
    expect((await session.send('POST', 'auth/password', { new: PASSWORD })).status).toBe(200)
    const page = await newPage({ width: 1280, height: 800 })
    await page.goto(`${origin}/console/me/keys`)
    await tabTo(page, 'E-mail')
    await page.keyboard.type((await session.send('GET', 'auth/me')).body.user.email)
    await tabTo(page, 'Password')
    await page.keyboard.type(PASSWORD)
    await page.keyboard.press('Enter')
    await page.waitForSelector('.page-head .button.primary')
    await page.keyboard.press('n')
    await tabTo(page, 'Name')
    await page.keyboard.type('By keys alone')
    await page.keyboard.press('Enter')
    await sees(page, 'it is shown only now')
    await tabTo(page, 'I have stored it')
    await page.keyboard.press('Space')
    await tabTo(page, 'Done')
    await page.keyboard.press('Enter')
    await page.waitForFunction(() => location.pathname.endsWith('/keys'))
    await page.keyboard.press('g')
    await page.keyboard.press('p')
    // The prompt has the focus at once.
    await page.waitForSelector('.composer textarea:focus')
    await page.waitForFunction(() => document.querySelectorAll('.pays option').length === 3)
    await tabTo(page, 'Who pays')
    await page.keyboard.type('Key By keys')
    await sees(page, 'within the caps')
    await tabTo(page, 'Prompt', { back: true })
    await page.keyboard.type('What is 12 * 7?')
    await page.keyboard.press('Enter')
    await sees(page, '84')
    await page.waitForSelector('.took b')
    const [row] = (await session.send('GET', 'requests?limit=1')).body.requests
    expect((await session.send('GET', `keys/${row.api_key_id}`)).body.name).toBe('By keys alone')
    const moving = await page.evaluate(
      () => document.getAnimations().filter(({ playState }) => playState === 'running').length,
    )
    expect(moving).toBe(0)
    await page.close()
  })

  test('a visitor is answered without a pointer', async () => {
    const { page, problems } = await open('/me/inbox')
    await page.waitForSelector('.queue button')
    await withAlt(page, 'ArrowDown')
    await sees(page, 'About the visitor')
    await withAlt(page, 't')
    await page.waitForSelector('#reply')
    await tabTo(page, 'Your reply')
    await page.keyboard.type('Good morning!')
    await page.keyboard.press('Enter')
    await page.waitForFunction(() => document.querySelector('.message.operator')?.textContent.includes('Good morning!'))
    expect(problems).toEqual([])
    await page.close()
  })

  test('100,000 requests scroll within the budget of a frame, and few of them are in the page', async () => {
    await calls(1)
    await world.app.store.write(async (tx) => {
      const table = tx.of(usageRecords)
      const [newest] = await tx.select().from(table).limit(1)
      const { id: _, ...row } = { ...newest!, seq: null, event_id: null, hash: null, prev_hash: null, ledger_ref: null }
      for (let from = 0; from < MANY; from += CHUNK) {
        const rows = Array.from({ length: CHUNK }, (_, n) => ({
          ...row,
          owner: `user:${person.userId}` as const,
          request_id: `req_many${from + n}`,
          at: row.at - (from + n) * 1_000,
        }))
        await tx.insert(table).values(rows)
      }
    })
    const { page, problems } = await open('/me/requests')
    await page.waitForSelector('.table-body .tr')
    const session = await page.createCDPSession()
    await session.send('Performance.enable', { timeDomain: 'threadTicks' })
    const spent = async () => {
      const { metrics } = await session.send('Performance.getMetrics')
      return metrics.find(({ name }) => name === 'TaskDuration')!.value * 1_000
    }
    const before = await spent()
    await page.evaluate(
      async (frames: number, step: number) => {
        for (let frame = 0; frame < frames; frame++) {
          scrollBy(0, step)
          await new Promise(requestAnimationFrame)
        }
      },
      FRAMES,
      ROWS_A_FRAME * 36,
    )
    const each = (await spent()) - before
    const rows = await page.$$eval('.table-body .tr', (all) => all.length)
    expect({ rows: rows < 80, reached: (await page.evaluate(() => scrollY)) > 10_000 }).toEqual({
      rows: true,
      reached: true,
    })
    expect(each / FRAMES).toBeLessThan(FRAME_MS)
    expect(problems).toEqual([])
    await page.close()
  })
})

inChromium('the console below a path', async () => {
  const { open, origin } = await createConsole({ below: '/any/depth' })

  test('every link, file and call stays below it', async () => {
    const { page, problems } = await open('')
    await page.waitForFunction(() => location.pathname === '/any/depth/console/me')
    await sees(page, 'Welcome')
    for (const section of await page.$$eval('.side li a', (links) =>
      links.map((link) => (link as HTMLAnchorElement).href),
    )) {
      expect(section).toStartWith(`${origin}/console/me`)
      await page.goto(section)
      await page.waitForSelector('main h1')
      await page.waitForFunction(() => !document.querySelector('main .loading'))
    }
    expect(problems).toEqual([])
    await page.close()
  })
})

async function withAlt(page: Page, key: 'ArrowDown' | 't'): Promise<void> {
  await page.keyboard.down('Alt')
  await page.keyboard.press(key)
  await page.keyboard.up('Alt')
}
