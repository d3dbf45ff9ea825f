/** A pattern whose time is not linear, the most characters it is given, and why no more. */
export type Bounded = { file: string; begins: string; chars: number; why: string }

const SHORT = 'a prompt of at most 400 characters (SHORT_CHARS of the built-in engine)'
const HEAD = 'the first 400 characters of a prompt (HEAD_CHARS)'
const STEP = 'an instruction for the browser of at most 2,000 characters (MAX_CHARS)'

export const BOUNDED: readonly Bounded[] = [
  { file: 'src/engines/builtin/client.ts', begins: '^(?:please\\s+)?(?:say|', chars: 400, why: SHORT },
  { file: 'src/engines/builtin/dates.ts', begins: '\\b(day|week)s\\b.*\\bbetween', chars: 400, why: SHORT },
  { file: 'src/engines/builtin/dates.ts', begins: '\\bdays\\b.*\\b(until', chars: 400, why: SHORT },
  { file: 'src/engines/builtin/dates.ts', begins: '(?:add\\s+)?\\b', chars: 400, why: SHORT },
  { file: 'src/engines/builtin/dates.ts', begins: '\\b(?:what|which)\\s+(?:day', chars: 400, why: SHORT },
  { file: 'src/engines/builtin/units.ts', begins: '(?<![\\d.,/])(-?[\\d.,]+|', chars: 400, why: SHORT },
  { file: 'src/engines/builtin/units.ts', begins: 'how many', chars: 400, why: SHORT },
  { file: 'src/media/documents/outline-reading.ts', begins: '\\b(?:about|', chars: 1_000, why: 'MAX_READ characters' },
  {
    file: 'src/media/documents/outline-reading.ts',
    begins: '(?<!\\s)\\s+(?:as',
    chars: 1_000,
    why: 'MAX_READ characters',
  },
  { file: 'src/media/documents/outline-reading.ts', begins: '\\bwith\\s+', chars: 1_000, why: 'MAX_READ characters' },
  { file: 'src/media/code.ts', begins: '^(?:#{1,6}\\s*)?', chars: 300, why: 'MAX_LINE characters of a line' },
  { file: 'src/engines/failures.ts', begins: '^[^.:]{0,60}\\bmodel', chars: 300, why: 'MAX_OPERATORS_CHARS' },
  { file: 'src/browser/extract.ts', begins: '(?<!\\s)\\s+(?:on', chars: 1_000, why: 'MAX_ASKED characters' },
  { file: 'src/browser/find-element.ts', begins: '^(.+?) (?:for', chars: 1_000, why: 'MAX_PHRASE characters' },
  { file: 'src/browser/in-page.ts', begins: '^([\\p{L}]', chars: 300, why: 'words of one element, cut to 300' },
  { file: 'src/research/web/pages.ts', begins: '<meta', chars: 1_024, why: 'the first 1,024 bytes of a page' },
  { file: 'src/text/secrets-find.ts', begins: '^(?:pass', chars: 256, why: 'a password that USERINFO captured' },
  { file: 'src/text/urls-but.ts', begins: '^(?:_.*', chars: 63, why: 'one label of a host name' },
  { file: 'src/text/personal-data-ssn.ts', begins: '(?:steuer', chars: 41, why: 'the reach of `followsWord`' },
  { file: 'src/text/personal-data-ssn.ts', begins: '(?:\\bbsn', chars: 41, why: 'the reach of `followsWord`' },
  { file: 'src/text/browsing-ask.ts', begins: '"([^"\\n]{0,1000})"', chars: 2_000, why: STEP },
  { file: 'src/text/browsing-ask.ts', begins: '^(?:type', chars: 2_000, why: STEP },
  { file: 'src/text/browsing-ask.ts', begins: '^fill', chars: 2_000, why: STEP },
  { file: 'src/text/browsing-ask.ts', begins: '^set', chars: 2_000, why: STEP },
  { file: 'src/text/browsing-ask.ts', begins: '^(?:select', chars: 2_000, why: STEP },
  { file: 'src/routing/stages.ts', begins: '^(?:(?:please', chars: 400, why: HEAD },
  { file: 'src/app/make-bundle.ts', begins: '\\/(src', chars: 4_096, why: 'a path of this repository' },
]

/** Expressions of which a part is not known before a request, by file, and why their time is linear. */
export const MADE_LATER: readonly { file: string; times: number; why: string }[] = [
  { file: 'src/browser/extract.ts', times: 2, why: 'the words of a key, and a pattern of this list with other flags' },
  {
    file: 'src/pages/browser/console/sections/routing/editor.tsx',
    times: 1,
    why: 'only compiled, to say what is wrong with it; no text is matched',
  },
  { file: 'src/app/redis.ts', times: 1, why: 'a name in what Redis says of itself' },
  { file: 'src/browser/host.ts', times: 1, why: 'a name of /proc/meminfo' },
  { file: 'src/engines/builtin/acting-choose.ts', times: 2, why: 'the name of a tool, word for word' },
  {
    file: 'src/engines/builtin/acting-phrases.ts',
    times: 7,
    why: 'words of names in a text of 8,000 characters (MAX_TEXT_CHARS)',
  },
  {
    file: 'src/engines/builtin/acting-fill.ts',
    times: 3,
    why: 'words of names in a text of 8,000 characters (MAX_TEXT_CHARS)',
  },
  {
    file: 'src/engines/builtin/schema-fill.ts',
    times: 5,
    why: 'a word of the schema, and words of names in a text of 8,000 characters (MAX_READ_CHARS), word for word',
  },
  { file: 'src/media/documents/outline.ts', times: 1, why: 'two fixed words in an instruction (MAX_READ)' },
  { file: 'src/media/documents/render/docx.ts', times: 1, why: 'a number, in a file that this server made' },
  { file: 'src/media/documents/render/slides.ts', times: 1, why: 'a width, with bounded repeats' },
  { file: 'src/pages/reference/examples.ts', times: 1, why: 'a pattern of the OpenAPI document of this server' },
  { file: 'src/skills/runtime.ts', times: 1, why: 'a keyword, word for word' },
  { file: 'src/text/patterns/ecma-lines.ts', times: 1, why: 'one class of characters' },
  { file: 'src/text/patterns/ecma.ts', times: 2, why: 'compiled to see whether it can be, and never run' },
  { file: 'src/text/patterns/linear.ts', times: 1, why: 'words, one or another' },
  { file: 'src/text/patterns/rule-pattern.ts', times: 1, why: 'compiled to see whether it can be, and never run' },
  { file: 'src/tools/validation-pattern.ts', times: 1, why: 'compiled to see whether it can be, and never run' },
]
