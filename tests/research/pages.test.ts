import { afterAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { brotliCompressSync, deflateRawSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { createOutbound } from '../../src/kernel/outbound'
import { createPages } from '../../src/research/web/pages'

// A process for each reader, perhaps beside much else.
setDefaultTimeout(60_000)

const HTML = { 'content-type': 'text/html' }
const page = (body: string, head = '') =>
  `<!doctype html><html><head><title>T</title>${head}</head><body>${body}</body></html>`
const refresh = (content: string) => page('Wait.', `<meta http-equiv="refresh" content="${content}">`)
const ANSWERS: Record<string, () => Response> = {
  '/end': () => new Response(page('<p>Arrived at the mill.</p>'), { headers: HTML }),
  '/refresh': () => new Response(refresh("0; URL='/end'"), { headers: HTML }),
  '/refresh-plain': () => new Response(refresh('3,url=end').replaceAll('"', ''), { headers: HTML }),
  '/refresh-slow': () => new Response(refresh('600; url=/end'), { headers: HTML }),
  '/refresh-self': () => new Response(refresh('5; url=/refresh-self'), { headers: HTML }),
  '/refresh-loop': () => new Response(refresh('0; url=/refresh-back'), { headers: HTML }),
  '/refresh-back': () => new Response(refresh('0; url=/refresh-loop'), { headers: HTML }),
  '/refresh-private': () => new Response(refresh('0; url=http://10.0.0.1/'), { headers: HTML }),
  '/refresh-noscript': () =>
    new Response(page('<p>Stays.</p>', '<noscript><meta http-equiv="refresh" content="0;url=/end"></noscript>'), {
      headers: HTML,
    }),
  '/gzip': () =>
    new Response(gzipSync(page('<p>Packed grain.</p>')), { headers: { ...HTML, 'content-encoding': 'gzip' } }),
  '/br': () =>
    new Response(brotliCompressSync(page('<p>Packed grain.</p>')), { headers: { ...HTML, 'content-encoding': 'br' } }),
  '/deflate-raw': () =>
    new Response(deflateRawSync(page('<p>Packed grain.</p>')), { headers: { ...HTML, 'content-encoding': 'deflate' } }),
  '/zstd': () =>
    new Response(zstdCompressSync(page('<p>Packed grain.</p>')), { headers: { ...HTML, 'content-encoding': 'zstd' } }),
  '/prices.xml.gz': () =>
    new Response(gzipSync('<?xml version="1.0"?><urlset><loc>Packed grain.</loc></urlset>'), {
      headers: { 'content-type': 'application/x-gzip' },
    }),
  '/a%20list.svg': () =>
    new Response('<svg><text>Rye\r</text></svg>', { headers: { 'content-type': 'image/svg+xml' } }),
  '/utf-16': () =>
    new Response(
      new Uint8Array(Buffer.from(`\ufeff${page('<ol type="a"><li>Größe</li><li>Maß</li></ol>')}`, 'utf16le')),
      {
        headers: { 'content-type': 'application/octet-stream' },
      },
    ),
  '/bomb.gz': () =>
    new Response(gzipSync(Buffer.alloc(40_000_000, 'a')), { headers: { 'content-type': 'application/gzip' } }),
  '/br-false': () => new Response(page('<p>Not packed.</p>'), { headers: { ...HTML, 'content-encoding': 'br' } }),
  '/gzip-cut': () =>
    new Response(gzipSync(page('<p>Packed grain.</p>')).subarray(0, 60), {
      headers: { ...HTML, 'content-encoding': 'gzip' },
    }),
  '/gzip-large': () =>
    new Response(gzipSync(Buffer.alloc(40_000_000, 'a')), { headers: { ...HTML, 'content-encoding': 'gzip' } }),
  '/gzip-false': () => new Response(page('<p>Not packed.</p>'), { headers: { ...HTML, 'content-encoding': 'gzip' } }),
  '/rss': () =>
    new Response(
      `<?xml version="1.0"?><?xml-stylesheet href="a.xsl"?><rss xmlns:content="c"><channel><title>Mill &amp; Co</title>
      <item><title>Rye</title><link>https://mill.example/1</link><pubDate>Mon, 02 Mar 2026 10:00:00 GMT</pubDate>
      <description>Short.</description><content:encoded><![CDATA[<p>The <b>mill</b> grinds &amp; sings.</p>]]></content:encoded></item>
      <item><title>Oats</title><description>&lt;p&gt;Oats &amp;amp; barley.&lt;/p&gt;</description></item></channel></rss>`,
      { headers: { 'content-type': 'application/rss+xml' } },
    ),
  '/atom': () =>
    new Response(
      `<feed xmlns="http://www.w3.org/2005/Atom"><title>Mill</title><updated>2026-03-02T10:00:00Z</updated><entry>
      <title type="html">Rye &lt;i&gt;now&lt;/i&gt;</title><link rel="alternate" href="https://mill.example/1"/>
      <published>2026-03-01T08:00:00Z</published><content type="xhtml"><div xmlns="x"><p>The mill <em>grinds</em>.</p>
      </div></content></entry></feed>`,
      { headers: { 'content-type': 'text/xml' } },
    ),
  '/shell': () =>
    new Response(
      page(
        '<div id="root"></div><noscript>You need to enable JavaScript.</noscript>',
        '<meta property="og:description" content="Prices of the mill."><script type="application/ld+json">{"@type":"NewsArticle","articleBody":"The mill \\"Old\\" grinds\\nrye."}</script>',
      ),
      { headers: HTML },
    ),
  '/shell-about': () =>
    new Response(page('<div id="root"></div>', '<meta name="description" content="Prices of the mill.">'), {
      headers: HTML,
    }),
  '/shell-noscript': () =>
    new Response(page('<div id="root"></div><noscript><p>The ferry leaves at nine.</p></noscript>'), { headers: HTML }),
  '/ruby': () =>
    new Response(page('<p><ruby>漢<rp>(</rp><rt>かん</rt><rp>)</rp>字<rt>じ</rt></ruby>を読む。</p>'), {
      headers: HTML,
    }),
  '/dated': () =>
    new Response(page('<p>Harvest.</p>', '<meta name="DC.date.issued" content="2026-02-03">'), { headers: HTML }),
  '/utf8-as-latin1': () =>
    new Response(page('<p>Müller mahlt Körner.</p>'), { headers: { 'content-type': 'text/html; charset=iso-8859-1' } }),
  '/1251-as-utf8': () =>
    new Response(
      Buffer.from(page('<p>\xcc\xe5\xeb\xfc\xed\xe8\xf6\xe0</p>', '<meta charset="windows-1251">'), 'latin1'),
      { headers: { 'content-type': 'text/html; charset=utf-8' } },
    ),
  '/form.pdf': () =>
    new Response(
      `%PDF-1.4
1 0 obj<</Type/Catalog/Pages 2 0 R/AcroForm<</Fields[4 0 R]>>>>endobj
2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]/Annots[4 0 R]>>endobj
4 0 obj<</Type/Annot/Subtype/Widget/FT/Tx/T(owner)/V(Ada Brun)/Rect[10 10 100 30]/P 3 0 R>>endobj
trailer<</Root 1 0 R>>`,
      { headers: { 'content-type': 'application/pdf' } },
    ),
  '/typed.pdf': () =>
    new Response(
      `%PDF-1.4
1 0 obj<</Type/Catalog/Pages 2 0 R/AcroForm<</Fields[4 0 R]>>>>endobj
2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]/Annots[4 0 R 5 0 R]>>endobj
4 0 obj<</Type/Annot/Subtype/Widget/FT/Ch/T(land)/Opt[[(NO)(Norway)][(SE)(Sweden)]]/V(SE)/Rect[10 10 100 30]/P 3 0 R>>endobj
5 0 obj<</Type/Annot/Subtype/FreeText/Contents(Berth 14 is rented)/DA(/Helv 12 Tf 0 g)/Rect[10 40 150 60]/P 3 0 R>>endobj
trailer<</Root 1 0 R>>`,
      { headers: { 'content-type': 'application/pdf' } },
    ),
  '/remarks': () =>
    new Response(
      new Uint8Array(
        Buffer.from(
          `\0\r\n%PDF-1.4
1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj
2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]/Annots[4 0 R 5 0 R 6 0 R]>>endobj
4 0 obj<</Type/Annot/Subtype/Text/Contents(Ask the harbour)/Rect[10 10 30 30]/P 3 0 R>>endobj
5 0 obj<</Type/Annot/Subtype/Highlight/Contents(Check it)/QuadPoints[9 9 50 9 9 20 50 20]/Rect[9 9 50 20]/P 3 0 R>>endobj
6 0 obj<</Type/Annot/Subtype/Link/Contents(A link)/Rect[10 40 150 60]/P 3 0 R>>endobj
trailer<</Root 1 0 R>>`,
          'latin1',
        ),
      ),
      { headers: { 'content-type': 'application/octet-stream' } },
    ),
  '/hidden': () =>
    new Response(
      page('<p>Open at nine.</p><p style="color:red; display: none">Never seen.</p><div hidden>Nor this.</div>'),
      { headers: HTML },
    ),
  '/cells': () =>
    new Response(
      page(
        '<ol><li><p>One</p></li><li><div><p>Two</p></div></li></ol><table><tr><td><p>Rye</p></td><td><p>12</p></td></tr></table><p>At <math><mfrac> <mn>1</mn> <mn>12</mn> </mfrac></math> of <math><msup><mi>x</mi><mn>2</mn></msup></math></p>',
      ),
      { headers: HTML },
    ),
  '/shadow': () =>
    new Response(
      page(
        '<x-card><template shadowrootmode="open"><p>Seen in the shadow.</p></template></x-card><template><p>Unused.</p></template>',
      ),
      { headers: HTML },
    ),
  '/parts': () =>
    new Response(
      page(
        `<nav>${'<a href="/x">Elsewhere</a> '.repeat(40)}</nav><section><h2>Mill</h2><p>${'The mill grinds rye, oats, and barley on six days of each week, as it has since 1791. '.repeat(6)}</p></section>${['Shop', 'Cafe', 'Hire', 'Tours'].map((one) => `<section><h2>${one}</h2>${`<div><span>${one} is open from nine</span><span>Call 555</span></div>`.repeat(14)}</section>`).join('')}`,
      ),
      { headers: HTML },
    ),
  '/consent': () =>
    new Response(
      page(
        `<div id="cookie-banner"><p>${'We and our partners use cookies, and you may accept them all or change your preferences. '.repeat(4)}</p></div><div class="cookie-recipe"><h2>Oat cookies</h2><p>${'Stir the oats, the butter, and the sugar, then bake for ten minutes. '.repeat(6)}</p></div>`,
      ),
      { headers: HTML },
    ),
  '/details': () =>
    new Response(
      page(
        '<details><summary>Is it open?</summary>From noon.</details><address>Mill Lane 4</address>A<wbr>B\u200bC<fieldset><legend>Fee</legend>3 crowns</fieldset><math><mi>x</mi><annotation encoding="application/x-tex">{x}</annotation></math>',
      ),
      { headers: { 'content-type': 'text/html; charset=utf-8' } },
    ),
}

const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  fetch: (request) => ANSWERS[new URL(request.url).pathname]?.() ?? new Response('', { status: 404 }),
})
afterAll(() => server.stop(true))

const pages = createPages({ outbound: createOutbound({ allow: ['127.0.0.1/32'] }) })
const read = (path: string) =>
  pages.read(`${server.url.origin}${path}`, { signal: new AbortController().signal, who: 'test' })

describe('a page that sends its readers elsewhere', () => {
  test.each(['/refresh', '/refresh-plain'])('%s is followed', async (path) => {
    const { url, text } = await read(path)
    expect(text).toContain('Arrived at the mill.')
    expect(url).toBe(`${server.url.origin}/end`)
  })

  test.each(['/refresh-slow', '/refresh-self'])('%s is read itself', async (path) => {
    expect((await read(path)).text).toContain('Wait.')
  })

  test('only without scripts stays', async () => {
    expect((await read('/refresh-noscript')).text).toContain('Stays.')
  })

  test('in a circle, or to a private address, is refused', async () => {
    await expect(read('/refresh-loop')).rejects.toThrow('redirects more than 5 times')
    await expect(read('/refresh-private')).rejects.toThrow('not a public address')
  })
})

describe('a packed page', () => {
  test.each([
    [
      'text/vtt',
      'WEBVTT\n\nNOTE x\n\n00:01.000 --> 00:02.000 align:start\n<v Ada>The mill\n\n00:03.000 --> 00:04.000\ngrinds rye.',
    ],
    [
      'application/x-subrip',
      '1\r\n00:00:01,000 --> 00:00:02,000\r\n<i>The mill</i>\r\n\r\n2\r\n00:00:03,000 --> 00:00:04,000\r\n{\\an8}grinds rye.',
    ],
  ])('subtitles of type %s are read as what is spoken', async (contentType, text) => {
    const by = { signal: new AbortController().signal, who: 'test' }
    const given = { contentType, body: Buffer.from(text) }
    expect((await pages.readBytes(given, { ...by, prose: true })).text).toBe('The mill grinds rye.')
    expect((await pages.readBytes(given, by)).text).toBe(text)
  })

  test('a feed is read as its entries', async () => {
    expect(await read('/rss')).toMatchObject({
      title: 'Mill & Co',
      text: `## Rye\nMon, 02 Mar 2026 10:00:00 GMT\nThe mill grinds & sings.\nhttps://mill.example/1\n\n## Oats\nOats & barley.`,
      publishedAt: '2026-03-02T10:00:00.000Z',
    })
    expect(await read('/atom')).toMatchObject({
      title: 'Mill',
      text: '## Rye now\n2026-03-01T08:00:00Z\nThe mill grinds.\nhttps://mill.example/1',
    })
  })

  test.each(['/gzip', '/br', '/deflate-raw', '/zstd', '/prices.xml.gz'])('%s is unpacked', async (path) => {
    expect((await read(path)).text).toContain('Packed grain.')
  })

  test('is refused in words where it is cut, or large once unpacked', async () => {
    await expect(read('/gzip-cut')).rejects.toThrow('The address could not be read: the answer could not be unpacked.')
    await expect(read('/gzip-large')).rejects.toThrow('larger than')
    await expect(read('/bomb.gz')).rejects.toThrow('too large once decompressed')
  })

  test('is read as it is where nothing packed it', async () => {
    expect((await read('/gzip-false')).text).toContain('Not packed.')
    expect((await read('/br-false')).text).toContain('Not packed.')
  })
})

describe('what a page shows', () => {
  test('is what it says of itself where only its scripts would fill it', async () => {
    expect((await read('/shell')).text).toBe('The mill "Old" grinds\nrye.')
    expect((await read('/shell-about')).text).toBe('Prices of the mill.')
    expect((await read('/shell-noscript')).text).toBe('The ferry leaves at nine.')
  })

  test('is all of its parts where none of them is an article', async () => {
    const { text } = await read('/parts')
    expect(text).toContain('grinds rye')
    expect(text).toContain('Tours is open from nine')
    expect(text).not.toContain('Elsewhere')
  })

  test('is not what it asks every reader', async () => {
    const { text } = await read('/consent')
    expect(text).toContain('Stir the oats')
    expect(text).not.toContain('partners')
  })

  test('is in the charset of its bytes where its headers contradict them', async () => {
    expect((await read('/utf8-as-latin1')).text).toBe('Müller mahlt Körner.')
    expect((await read('/1251-as-utf8')).text).toBe('Мельница')
  })

  test('is its characters without their readings, and the date that it states', async () => {
    expect((await read('/ruby')).text).toBe('漢字を読む。')
    expect((await read('/dated')).publishedAt).toBe('2026-02-03T00:00:00.000Z')
  })

  test('is what somebody filled into a form', async () => {
    expect((await read('/form.pdf')).text).toBe('owner: Ada Brun')
    expect((await read('/typed.pdf')).text).toBe('Berth 14 is rented\nland: Sweden')
  })

  test('is what readers remarked, also where other bytes are before the PDF', async () => {
    expect((await read('/remarks')).text).toBe('Ask the harbour\nCheck it')
  })

  test('is all of it where it was given as a file, also what is no article', async () => {
    const prose = '<p>The harbour office opens at nine, closes at five, and keeps a list of all of its ferries.</p>'
    const body = Buffer.from(
      page(`${prose.repeat(4)}<table><tr><td>Rope</td><td>12</td></tr></table><footer>Fee: 3</footer>`),
    )
    const by = { signal: new AbortController().signal, who: 'test', whole: true } as const
    const { text } = await pages.readBytes({ contentType: '', body }, by)
    expect(text).toEndWith('Rope | 12 |\n\nFee: 3')
  })

  test('is at an address with a blank and a fragment, as text even where it is a drawing', async () => {
    expect((await read('/a list.svg#top')).text).toBe('<svg><text>Rye\n</text></svg>')
  })

  test('is a page in UTF-16 whose type is unknown, with the letters of its list', async () => {
    expect(await read('/utf-16')).toMatchObject({ title: 'T', text: 'a. Größe\n\nb. Maß' })
  })

  test('is nothing that it hides', async () => {
    expect((await read('/hidden')).text).toBe('Open at nine.')
  })

  test('is on one line where paragraphs are items, cells or parts of formulas', async () => {
    expect((await read('/cells')).text).toBe('1. One\n\n2. Two\n\nRye | 12 |\n\nAt 1/12 of x^2')
  })

  test('holds the shadow of an element, and no other template', async () => {
    expect((await read('/shadow')).text).toBe('Seen in the shadow.')
  })

  test('is a line for each block, with words that may be broken whole', async () => {
    expect((await read('/details')).text).toBe('Is it open?\nFrom noon.\n\nMill Lane 4\nABC\n\nFee\n3 crowns\nx')
  })
})
