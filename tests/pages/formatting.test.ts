import { expect, test } from 'bun:test'
import { buildAssets } from '../../src/pages'
import { initialOf } from '../../src/pages/browser/console/ui/format'
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
    // What only adds to such a text is not tried again.
    expect(await shown(`${'>'.repeat(50_000)} **more**`)).toMatchObject({ isPlain: true, tags: 0 })
    expect(await shown(ANSWER)).toMatchObject({ isPlain: false, tags: 5 })

    const markupOf = (text: string) =>
      page.evaluate((given) => {
        const whole = document.createElement('div')
        whole.append((window as unknown as { format: Format }).format(given))
        return whole.innerHTML
      }, text)
    const link = (address: string, text: string) =>
      `<a href="${address}" rel="noopener noreferrer nofollow" target="_blank">${text}</a>`
    for (const [text, markup] of [
      ['a\nb **c** *d* ~~e~~ `<f>`', '<p>a<br>b <strong>c</strong> <em>d</em> <s>e</s> <code>&lt;f&gt;</code></p>'],
      ['## One', '<p class="heading">One</p>'],
      ['3. a\n4. b', '<ol start="3"><li>a</li><li>b</li></ol>'],
      [
        'see https://a.example/x and www.b.example.',
        `<p>see ${link('https://a.example/x', 'https://a.example/x')} and ${link('http://www.b.example', 'www.b.example')}.</p>`,
      ],
      ['[a](http://a.example "t") notes.md', `<p>${link('http://a.example', 'a')} notes.md</p>`],
      ['[a](javascript:alert(1)) [b](data:text/html,x)', '<p>[a](javascript:alert(1)) [b](data:text/html,x)</p>'],
      [
        '[a](//a.example) [b](/x)',
        '<p><a rel="noopener noreferrer nofollow" target="_blank">a</a> <a rel="noopener noreferrer nofollow" target="_blank">b</a></p>',
      ],
      ['<img src=x onerror="alert(1)"><b onclick="x()">b</b><br/>![c](https://a.example/p.png)', '<p>b<br></p>'],
      ['<script>alert(1)</script>', '<p>alert(1)</p>'],
      [
        '| a | b |\n|:-:|--:|\n| 1<br>2 | &lt; |',
        '<div class="scrolls" tabindex="0" role="group" aria-label="Table"><table><thead><tr><th style="text-align: center;">a</th><th style="text-align: right;">b</th></tr></thead><tbody><tr><td style="text-align: center;">1<br>2</td><td style="text-align: right;">&lt;</td></tr></tbody></table></div>',
      ],
      [
        '```js\na < b\n```',
        '<div class="scrolls" tabindex="0" role="group" aria-label="Code"><pre><code>a &lt; b\n</code></pre></div>',
      ],
    ] as const)
      expect({ text, markup: await markupOf(text) }).toEqual({ text, markup })
  })
})

test('the initial of an owner is one character as people see it', () => {
  const initials = ['ada', ' Öko e.V.', '👩‍👩‍👧 Family', '🇦🇹 Wien', 'e\u0301cole', ''].map(initialOf)
  expect(initials).toEqual(['A', 'Ö', '👩‍👩‍👧', '🇦🇹', 'E\u0301', ''])
})
