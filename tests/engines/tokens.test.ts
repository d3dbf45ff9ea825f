import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { Tiktoken } from 'js-tiktoken/lite'
import o200k from 'js-tiktoken/ranks/o200k_base'
import { countPrompt, countTokens, cutToWeight, newPlace, UNITS_PER_TOKEN, weigh } from '../../src/engines/meter'
import { effortOf } from '../support/effort'

const SAMPLES: [language: string, text: string][] = [
  [
    'English',
    `It was a bright cold day in April, and the clocks were striking thirteen. He walked slowly down the street,
wondering whether anybody had noticed that the shop on the corner was closed again. "You never can tell," his grandmother
used to say, "what tomorrow will bring." Please summarise the following report for the management team. Revenue grew by
eleven percent compared with the previous quarter, mainly because of strong demand in the northern region.`,
  ],
  [
    'a question',
    `Can you help me write an email to my landlord? The heating has been broken for three days and he doesn't answer his
phone. I'd like to be polite but firm, and mention that I'm going to reduce the rent if it isn't fixed by Friday.`,
  ],
  [
    'code',
    `class Inventory:
    """Keeps track of items."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.items = defaultdict(int)

    def load(self):
        with open(self.path, encoding="utf-8") as handle:
            for line in handle:
                name, count = line.strip().split(",")
                self.items[name] += int(count)
        return self
`,
  ],
  ['this file', await Bun.file(import.meta.path).text()],
  [
    'German',
    `Die Bundesregierung hat am Mittwoch ein neues Gesetz zur Förderung erneuerbarer Energien beschlossen. Außerdem sei
unklar, wie die Kosten für den Ausbau der Netze verteilt würden. Sehr geehrte Damen und Herren, hiermit kündige ich meinen
Mietvertrag fristgerecht zum nächstmöglichen Zeitpunkt. Kannst du mir erklären, wie eine Wärmepumpe funktioniert?`,
  ],
  [
    'Chinese',
    `中国政府星期三公布了一项促进可再生能源发展的新法律。根据该法律，到2035年，至少百分之八十的电力应来自风能、太阳能和水能。请帮我写一封求职信，我有五年的会计工作经验，英语流利。如果您有任何问题，请随时联系我们的客服人员。`,
  ],
  [
    'Russian',
    `Правительство в среду приняло новый закон о поддержке возобновляемых источников энергии. Помогите мне, пожалуйста,
написать сопроводительное письмо на должность бухгалтера. У меня пять лет опыта работы.`,
  ],
  ['JSON', await Bun.file('package.json').text()],
  [
    'JSON on one line',
    JSON.stringify(
      Array.from({ length: 20 }, (_, at) => ({
        ...{ id: 1_000 + at * 37, name: 'Ada Lovelace', email: `user${at}@example.com`, active: at % 2 === 0 },
        ...{ created_at: '2026-03-01T12:30:00Z', tags: ['alpha', 'beta'], balance: at * 12.5 },
      })),
    ),
  ],
  [
    'schemas of tools',
    JSON.stringify([
      {
        ...{ name: 'search_documents', description: 'Search the knowledge base for documents that match a query.' },
        parameters: {
          type: 'object',
          properties: {
            query: { type: 'string', description: 'What to search for' },
            limit: { type: 'integer', minimum: 1, maximum: 50, default: 10 },
            filters: { type: 'object', properties: { author: { type: 'string' } }, additionalProperties: false },
            unit: { type: 'string', enum: ['celsius', 'fahrenheit'] },
          },
          ...{ required: ['query'], additionalProperties: false },
        },
      },
    ]),
  ],
]

describe('the count is within 10 % of that of a real vocabulary (docs/api.md 30.4)', () => {
  const vocabulary = new Tiktoken(o200k)
  test.each(SAMPLES)('%s', (_, text) => {
    const tokens = vocabulary.encode(text, 'all').length
    expect(countTokens(text) / tokens).toBeWithin(0.9, 1.1)
  })
})

test('nothing is nothing, anything is something', () => {
  expect(countTokens('')).toBe(0)
  expect(countTokens('a')).toBe(1)
})

test('a text weighs what its pieces weigh, wherever it is cut', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.nat(50), (text, at) => {
      const place = newPlace()
      return weigh(text) === weigh(text.slice(0, at), place) + weigh(text.slice(at), place)
    }),
  )
})

test('a cut text keeps its limit, begins as the text does and ends with a whole character', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.nat(2_000), (text, units) => {
      const cut = cutToWeight(text, units)
      return weigh(cut) <= units && text.startsWith(cut) && cut.isWellFormed()
    }),
  )
})

test('pictures and messages cost something by themselves', () => {
  const image = { type: 'image' as const, mimeType: 'image/png', base64: 'A'.repeat(1_000_000) }
  expect(countPrompt([{ role: 'user', content: [{ type: 'text', text: 'Look' }, image] }])).toBeWithin(800, 820)
  expect(countPrompt([{ role: 'user', content: 'Look' }])).toBe(8)
})

test('a megabyte is weighed in a few milliseconds', async () => {
  const text = 'word '.repeat(200_000)
  expect(weigh(text) / UNITS_PER_TOKEN).toBeGreaterThan(100_000)
  expect(await effortOf(() => weigh(text))).toBeLessThan(50)
})
