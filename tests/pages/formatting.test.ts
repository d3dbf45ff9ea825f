import { expect, test } from 'bun:test'
import { buildAssets } from '../../src/pages'
import { inChromium, newPage } from './support/chromium'

const MAX_MS = 1_000
const LENGTHS = [10_000, 50_000]
const PIECES = [
  '>',
  '> ',
  '***a_',
  '*a **a ',
  '_a',
  '[',
  '![',
  '[a](',
  '`',
  '``a',
  '<a ',
  '|',
  '- ',
  '>- ',
  '1. - ',
  'a\n',
]
const ANSWER = `# Tides\n\nThe **sea** rises twice a day:\n\n${'- [high](https://a.example) and *low*\n'.repeat(100)}\n> "Time and tide"\n\n| a | b |\n|---|---|\n| 1 | 2 |\n`

type Format = (text: string) => Node

inChromium('Markdown of strangers, in the chat and the inbox', () => {
  test('a text that would take long, or is nested too deeply, is shown plain and stops no page', async () => {
    const page = await newPage()
    await page.evaluate(() =>
      addEventListener('svc-text', (event) => Object.assign(window, { format: (event as CustomEvent).detail })),
    )
    await page.addScriptTag({ content: (await buildAssets()).widgetText })
    const shown = (text: string) =>
      page.evaluate((given) => {
        const { format } = window as unknown as { format: Format }
        const began = performance.now()
        const node = format(given)
        const whole = document.createElement('div')
        whole.append(node)
        return { ms: performance.now() - began, isPlain: whole.textContent === given, tags: whole.childElementCount }
      }, text)

    for (const length of LENGTHS) {
      for (const piece of PIECES) {
        const { ms, isPlain, tags } = await shown(piece.repeat(length / piece.length))
        expect({ piece, length, isSoon: ms < MAX_MS }).toEqual({ piece, length, isSoon: true })
        expect(isPlain || tags > 0).toBe(true)
      }
    }
    expect(await shown('>'.repeat(50_000))).toMatchObject({ isPlain: true, tags: 0 })
    expect(await shown('***a_'.repeat(10_000))).toMatchObject({ isPlain: true, tags: 0 })
    // What only adds to such a text is not tried again.
    expect(await shown(`${'***a_'.repeat(10_000)} **more**`)).toMatchObject({ isPlain: true, tags: 0 })
    expect(await shown(ANSWER)).toMatchObject({ isPlain: false, tags: 5 })
  })
})
