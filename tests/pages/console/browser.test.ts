import { expect, test } from 'bun:test'
import { serveSite, startSession } from '../../browser/support'
import { eventually } from '../../support/eventually'
import { inChromium } from '../support/chromium'
import { createConsole, press, sees, wrongIn } from './support/console'

inChromium('live browsers of the console', async () => {
  const { open, person, world } = await createConsole({
    config: { egressAllow: '127.0.0.1/32', browserSessionsPerUser: 2 },
  })
  const site = serveSite({ '/': '<title>Order lamps</title><label>Name <input></label>' })

  test('a card shows its newest picture and step, opens the live view, and the browser is ended there', async () => {
    const session = await startSession(await world.signedIn(person), { url: site.url() })
    await session.act('type ada in Name')
    const { page, problems } = await open('/me/browser?view=gallery')
    await sees(page, 'act by the API')
    const card = () =>
      page.$eval('.gallery a', (link) => {
        const picture = link.querySelector('img')
        return { text: link.textContent ?? '', width: picture?.naturalWidth ?? 0 }
      })
    const { text } = await eventually(card, ({ width }) => width > 0)
    expect(text).toContain('Order lamps')
    expect(text).toContain(`127.0.0.1:${site.port}`)
    expect(await wrongIn(page, 'browser-gallery')).toEqual([])
    await page.setViewport({ width: 1280, height: 800 })
    await page.click('.gallery a')
    const frame = await page.waitForSelector('iframe.live-view')
    expect(await (await frame!.contentFrame()).waitForSelector('canvas, img')).not.toBeNull()
    await sees(page, 'act: Name')
    expect(await wrongIn(page, 'browser-live')).toEqual([])
    await page.setViewport({ width: 1280, height: 800 })
    await press(page, 'End…')
    await press(page, 'End')
    await sees(page, 'No live browser.')
    expect((await session.end()).status).toBe(200)
    expect(problems).toEqual([])
  })
})
