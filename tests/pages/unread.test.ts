import { expect, test } from 'bun:test'
import { frameOf, inChromium, newPage, shows } from './support/chromium'
import { scripted, streamedAs } from './support/scripted'

inChromium('what a visitor has read', () => {
  test('what was shown in the open chat is read on the next page, too; what came meanwhile is not', async () => {
    const messages: { id: string; role: string; content: string; artifacts: []; created_at: string }[] = []
    const write = (role: string, content: string) => {
      const created_at = `2026-03-04T10:20:0${messages.length}.000Z`
      return messages[messages.push({ id: `msg_${messages.length}`, role, content, artifacts: [], created_at }) - 1]!
    }
    const site = await scripted({
      current: () => Response.json({ session_id: 's', status: 'open', takeover_status: 'ai', messages: messages }),
      message: ({ body }) => {
        const message = write('user', String(body?.content))
        return streamedAs({ message, reply: write('assistant', 'Good day.'), takeover_status: 'ai' })
      },
    })
    const page = await newPage()
    await page.goto(site.hostUrl())
    const first = await frameOf(page)
    await first.click('#launcher')
    await first.click('.suggestions button')
    await shows(first, '.log:not(.growing)', 'Good day.')
    await page.goto(site.hostUrl('data-next'))
    const second = await frameOf(page)
    // Drawn by the same answer as what would be counted.
    await second.waitForSelector('.message.assistant:nth-of-type(3)')
    expect(await second.$eval('#launcher', (button) => button.getAttribute('aria-label'))).toBe('Open chat')
    // An open chat stays open, and a closed one closed.
    await second.waitForSelector('#panel', { visible: true })
    await second.click('[aria-label="Close chat"]')
    write('operator', 'Are you still there?')
    await page.goto(site.hostUrl())
    const third = await frameOf(page)
    await third.waitForSelector('[aria-label="Open chat, 1 new message"]')
    expect(await third.$eval('#panel', (panel) => (panel as HTMLElement).hidden)).toBe(true)
    await third.click('#launcher')
    await third.click('[aria-label="Close chat"]')
    await page.goto(site.hostUrl('data-next'))
    const fourth = await frameOf(page)
    await fourth.waitForSelector('.message.operator')
    expect(await fourth.$eval('#launcher', (button) => button.getAttribute('aria-label'))).toBe('Open chat')
  })
})
