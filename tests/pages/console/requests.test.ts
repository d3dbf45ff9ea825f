import { expect, test } from 'bun:test'
import { inChromium } from '../support/chromium'
import { createConsole, press, sees, wrongIn } from './support/console'

inChromium('the requests of the console', async () => {
  const { calls, open, person } = await createConsole()

  test('before the first call there is a call to copy', async () => {
    const { page, problems } = await open('/me/requests')
    await sees(page, 'No requests in the last 30 days')
    expect(await wrongIn(page, 'requests-empty')).toEqual([])
    expect(problems).toEqual([])
  })

  test('calls are listed, filtered by the address, and opened by keys alone', async () => {
    await calls(60)
    const { page, problems } = await open('/me/requests')
    await page.waitForSelector('.table-body .tr')
    expect(await wrongIn(page, 'requests')).toEqual([])
    await page.setViewport({ width: 1280, height: 800 })
    await page.select('select[aria-label="Mode"]', 'fast')
    await page.waitForFunction(() => location.search === '?mode=fast')
    await page.keyboard.press('Escape')
    await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur())
    await page.keyboard.press('j')
    await page.keyboard.press('j')
    await page.waitForFunction(() => document.activeElement?.closest('[data-index="1"]'))
    await page.keyboard.press('Enter')
    await sees(page, 'Where the')
    await sees(page, 'Audit events')
    const first = page.url()
    expect(first).toContain('?mode=fast')
    expect(await wrongIn(page, 'requests-trace')).toEqual([])
    await page.setViewport({ width: 1280, height: 800 })
    await page.keyboard.press(']')
    await page.waitForFunction((before: string) => location.href !== before, {}, first)
    await page.keyboard.press('Escape')
    await page.waitForFunction(() => location.pathname.endsWith('/requests'))
    await page.select('select[aria-label="Status"]', '5xx')
    await sees(page, 'No row matches the filter.')
    await press(page, 'Clear filter')
    await page.waitForSelector('.table-body .tr')
    expect(problems).toEqual([])
  })

  test('a link to a call opens it alone, and says where there is none', async () => {
    const { requests } = (await person.send('GET', 'requests?limit=1')).body
    const { page } = await open(`/me/requests/${requests[0].request_id}`)
    await sees(page, 'Where the')
    const other = await open('/me/requests/req_none')
    await sees(other.page, 'No request with this id.')
  })
})
