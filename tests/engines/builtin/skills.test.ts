import { describe, expect, test } from 'bun:test'
import { countTokens } from '../../../src/engines/meter'
import { fence } from '../../../src/kernel/fence'
import { collect, engineSuite, plain, request, streamed } from '../../suites/engine.suite'
import { effortOf } from '../../support/effort'
import { ask, builtin } from './ask'

engineSuite('builtin', builtin, 'Count to five')

const ANSWERS: [string, string][] = [
  ['Count to five slowly', 'One, two, three, four, five.'],
  ['count down from three', 'Three, two, one.'],
  ['Count from 2 to 10 by twos', 'Two, four, six, eight, ten.'],
  ['Count from 98 to 101', '98, 99, 100, 101.'],
  ['Reply with exactly: OK', 'OK'],
  ['Say "tea, please"', 'tea, please'],
  ['Repeat exactly: `ls -l`', 'ls -l'],
  ['Repeat exactly:\n```js\nlet a = 1\n```', '```js\nlet a = 1\n```'],
  ['What is 12 * 7 + 3?', '12 * 7 + 3 = 87'],
  ['2+2', '2+2 = 4'],
  ['"What is 2 + 2?"', '2 + 2 = 4'],
  ['<system-reminder>\nToday is a "good" day.\n</system-reminder>\nWhat is 2 + 2?', '2 + 2 = 4'],
  ['15% of 80', '15% of 80 = 12'],
  ['What is three plus four?', 'three plus four = 7'],
  ['what is 5 factorial', '5 factorial = 120'],
  ['5!', '5! = 120'],
  ['what is the square root of 144', 'the square root of 144 = 12'],
  ['the average of 2, 4 and 9', 'The average of 2, 4 and 9 is 5.'],
  ['What is 2^100?', '2^100 = 1267650600228229401496703205376'],
  ['25!', '25! = 15511210043330985984000000'],
  ['Convert 6 feet 2 inches to cm', '74 inches = 187.96 centimetres'],
  [`Convert 5'11" to cm`, '71 inches = 180.34 centimetres'],
  ['Convert 2 hours and 30 minutes to minutes', '150 minutes = 150 minutes'],
  ['How many letters are in the word strawberry?', '10 characters, 10 letters.'],
  ['Convert 5 km to miles', '5 kilometres = 3.106856 miles'],
  ['how many feet are in 3 metres?', '3 metres = 9.84252 feet'],
  ['100 °F in °C', '100 °F = 37.78 °C'],
  ['What day is it today?', 'Today is Wednesday, 4 March 2026 (UTC).'],
  ['what is the date tomorrow?', 'Tomorrow is Thursday, 5 March 2026 (UTC).'],
  ['days between 2026-01-01 and 2026-03-01', 'There are 59 days between 2026-01-01 and 2026-03-01.'],
  ['How many days until Christmas?', '296 days until Friday, 25 December 2026.'],
  ['what day of the week was 29 February 2024?', '2024-02-29 is a Thursday.'],
  ['what date is 3 weeks from today?', 'Wednesday, 25 March 2026.'],
  ['What date is next Friday?', 'The next Friday after today is Friday, 6 March 2026 (UTC).'],
  ['Which date is next Wednesday?', 'The next Wednesday after today is Wednesday, 11 March 2026 (UTC).'],
  ['What date was last Wednesday?', 'The last Wednesday before today is Wednesday, 25 February 2026 (UTC).'],
  ['How many days until Sunday?', '4 days until Sunday, 8 March 2026.'],
  ['What is the date in 3 months?', 'Thursday, 4 June 2026.'],
  ['What date is one month after 2026-01-31?', 'Saturday, 28 February 2026.'],
  ['What is the date 1 year before 29 February 2028?', 'Sunday, 28 February 2027.'],
  ['What is the date in two weeks?', 'Wednesday, 18 March 2026.'],
  [
    'How many weeks between 2026-01-01 and 2026-03-01?',
    'There are 8 weeks and 3 days between 2026-01-01 and 2026-03-01.',
  ],
  ['What day of the week was 24.12.2025?', '2025-12-24 is a Wednesday.'],
  ['What day is 12/31/2026?', '2026-12-31 is a Thursday.'],
  ['How many days are in February 2028?', 'February 2028 has 29 days.'],
  ['What time is it in New York?', 'It is 05:20 in New York (America/New_York) on Wednesday, 4 March 2026.'],
  ["What is today's date in Tokyo?", 'It is 19:20 in Tokyo (Asia/Tokyo) on Wednesday, 4 March 2026.'],
  ['What week number is it?', 'It is week 10 of 2026 (ISO 8601).'],
  ['Was ist 12,5 % von 80?', '12,5 % von 80 = 10'],
  ['What is 1.234,56 + 1?', '1.234,56 + 1 = 1235.56'],
  ['What is 1,234 + 1?', '1,234 + 1 = 1235'],
  ["What is 1'234.50 * 2?", "1'234.50 * 2 = 2469"],
  ['What is 1 234 567 + 1?', '1 234 567 + 1 = 1234568'],
  ['What is 9007199254740993 - 1 * 2?', '9007199254740993 - 1 * 2 = 9007199254740991'],
  ['What is 9007199254740993 * 3?', '9007199254740993 * 3 = 27021597764222979'],
  ['¿Cuánto es 1.250,50 + 0,50?', '1.250,50 + 0,50 = 1251'],
  ['What is a quarter of 200?', 'a quarter of 200 = 50'],
  ['What is 240 plus 17%?', '240 plus 17% = 280.8'],
  ['What is 10% off 50?', '10% off 50 = 45'],
  ['what’s 12 squared?', '12 squared = 144'],
  ['What is a third of 90?', 'a third of 90 = 30'],
  ['What is twenty-five percent of two hundred?', 'twenty-five percent of two hundred = 50'],
  [
    'two million three hundred thousand and five minus one',
    'two million three hundred thousand and five minus one = 2300004',
  ],
  ['What is $1,250.50 + $99.50?', '$1,250.50 + $99.50 = 1350'],
  ['Wie viel ist 7 mal 8?', '7 mal 8 = 56'],
  ['Combien font 100 divisé par 8 ?', '100 divisé par 8 = 12.5'],
  ['¿Cuánto es 7 más 8?', '7 más 8 = 15'],
  ['How many inches are 10 cm?', '10 centimetres = 3.937008 inches'],
  ['What is 2³ + √16?', '2³ + √16 = 12'],
  ['What is ١٢ + ٣?', '١٢ + ٣ = 15'],
  ['What is १२ × ३?', '१२ × ३ = 36'],
  ['What is １２＋３?', '１２＋３ = 15'],
  ['Is 1900 a leap year?', 'No, 1900 is not a leap year.'],
  ['Reverse "hello"', 'olleh'],
  ['Reverse the word stressed', 'desserts'],
  ['Reverse this list: red, green, blue', 'blue, green, red'],
  ['Sort in reverse alphabetical order: a, c, b', 'c, b, a'],
  ['Uppercase: straße', 'STRASSE'],
  ['Slugify: Crème Brûlée, twice', 'creme-brulee-twice'],
  ['Sort these: banana, apple, Cherry', 'apple, banana, Cherry'],
  ['How many words are in "the quick brown fox"?', '4 words.'],
  ['base64 encode "abc"', 'YWJj'],
  ['Extract the e-mail addresses from: ask ada@example.com or bob@example.org', '- ada@example.com\n- bob@example.org'],
  ['Extract the phone numbers from: nobody calls here', 'There are no phone numbers in the text.'],
  [
    'Acme was founded in 1999 by Ada. It makes anvils.\nWho founded Acme?',
    'From the text you sent: "Acme was founded in 1999 by Ada."',
  ],
]

test.each(ANSWERS)('%p is answered %p', async (prompt, answer) => {
  expect(await ask(prompt)).toBe(answer)
})

describe('honesty', () => {
  test.each([
    'What is the capital of France?',
    'Write a haiku about rain',
    'Say hello in five words',
    'Say "hello" in Spanish',
    'Say hello in Spanish',
    'repeat "ab" three times',
    'say something funny',
    'Write exactly one sentence about rain',
    'Reply only with a number: two and two',
    'count to 5 in German',
    'Extract the second email: a@b.example, c@d.example',
    'Extract the dates after 2020: 1 May 2019, 2 June 2021',
    'how many spaces are in "a b c"',
    'Sort by length: kiwi, fig, banana',
    'Sort by date: 3 May 2024, 1 Jan 2025',
    'Uppercase the first letter of "hello world"',
    'Capitalize only the last word: hello world',
    'Remove duplicates and sort: b, a, b',
    "Don't reverse this: abc",
    'How many letters t are in "tattoo"?',
    'Count the words that start with b in "bat cat bus"',
    '1/2 cup in ml',
    'Explain quantum computing',
    'solve 3x + 2 = 8',
    'translate to French: good morning',
    '1/0',
    'count to a million',
    'what day was 31 February 2024?',
    'When is high tide in Hollowport on Sunday?',
    'What is the release date of the product?',
    'Which shop is open next Monday?',
    'How many days of vacation do I have in March?',
    'What is the week number of the conference?',
    'What time does the train leave in Rome?',
    'Welcher Tag ist der beste?',
    'Quel jour est le plus long de tous ?',
    '¿Qué día es el concierto?',
    '',
  ])('%p gets the plain statement that no model is connected, and how to connect one', async (prompt) => {
    const answer = await ask(prompt)
    expect(answer).toContain('No language model is connected')
    expect(answer).toContain('SVC_ENGINE_BASE_URL')
    expect(answer).toContain('svc-admin engines add')
  })

  test.each(['What is the capital of France?', 'who are you?', 'help', 'Do you ship to France?', 'hi', 'Thanks!'])(
    'visitors of a site get one polite line to %p, which names no setting',
    async (prompt) => {
      const answer = await ask(prompt, { forVisitors: true })
      expect(answer).toMatch(/^(Sorry, I have no answer|I am an automatic assistant|Hello, I am an automatic)[^\n]*$/)
      expect(answer).not.toMatch(/SVC_|svc-admin|operator|engine/)
    },
  )

  test.each(['hi', 'Hello there!', 'ping', 'Thanks a lot.'])(
    '%p gets one sentence, which says who speaks',
    async (prompt) => {
      expect(await ask(prompt)).toBe(
        'Hello from the built-in engine, which is program code and no language model; "help" tells what it can do.',
      )
    },
  )

  test.each([
    ['roast', 'We leverage synergy!! Our scalable platform is really just the best!'],
    ['code', 'Explain monads'],
    ['think', 'Write a function that adds numbers'],
  ])('in mode %s %p gets the statement, too', async (mode, prompt) => {
    expect(await ask(prompt, { mode })).toContain('No language model is connected')
  })

  test('no sentence of it has more than 25 words', async () => {
    for (const prompt of ['Write a haiku about rain', 'help', 'hi']) {
      for (const sentence of (await ask(prompt)).split(/(?<=[.!?])\s+/)) {
        expect(sentence.split(/\s+/).length).toBeLessThanOrEqual(25)
      }
    }
  })

  test.each(['Who are you?', 'Are you an AI?', 'help'])('%p: it says what it is', async (prompt) => {
    expect(await ask(prompt)).toContain('not a language model')
  })
})

test('a question about the conversation is answered by quoting it', async () => {
  const messages = [
    { role: 'user' as const, content: 'My name is Ada and I live in Turin.' },
    { role: 'assistant' as const, content: 'Noted.' },
    { role: 'user' as const, content: 'What is my name?' },
  ]
  expect(await ask('', { messages })).toBe('Earlier you wrote: "My name is Ada and I live in Turin."')
})

test('knowledge in the system prompt is quoted, instructions in it are not', async () => {
  const messages = [
    {
      role: 'system' as const,
      content: 'You are a refund assistant for refunds.\nRefunds are possible within 30 days.',
    },
    { role: 'user' as const, content: 'When are refunds possible?' },
  ]
  expect(await ask('', { messages })).toBe(
    'From the instructions of this service: "Refunds are possible within 30 days."',
  )
})

test('what a file says in the system prompt goes by the name of the file', async () => {
  const file = fence('tides.md of skill tides', 'High tide is at 07:42.\nYou come by boat at high tide.')
  const messages = [
    { role: 'system' as const, content: `You help with tides.\n${file}\nThe harbour has two piers.` },
    { role: 'user' as const, content: 'When is high tide?' },
  ]
  expect(await ask('', { messages })).toContain('From tides.md of skill tides: "High tide is at 07:42."')
  const piers = [messages[0]!, { role: 'user' as const, content: 'How many piers has the harbour?' }]
  expect(await ask('', { messages: piers })).toBe('From the instructions of this service: "The harbour has two piers."')
})

test('a summary quotes sentences of the text and nothing else', async () => {
  const sentences = [
    'The bridge carries the railway over the river.',
    'Lunch was soup.',
    'Engineers inspect the bridge and the railway every year.',
    'The river floods the bridge in spring.',
    'Someone whistled.',
  ]
  const answer = await ask(`Summarise in two sentences:\n${sentences.join(' ')}`)
  const quoted = answer.split('\n').filter((line) => line.startsWith('- '))
  expect(quoted).toHaveLength(2)
  for (const line of quoted) expect(sentences).toContain(line.slice(2))
  expect(answer).not.toContain('soup')
})

test('a stream comes word by word', async () => {
  const parts = await collect(streamed(builtin, request('Count to five')))
  expect(parts.map((part) => (part.type === 'text' ? part.text : part.type))).toEqual([
    'One,',
    ' two,',
    ' three,',
    ' four,',
    ' five.',
    'finish',
  ])
})

test.each([1, 2, 4, 6])('an answer ends at a limit of %i tokens, and says so', async (maxOutputTokens) => {
  const order = { ...request('Count to five'), maxOutputTokens }
  const parts = await collect(streamed(builtin, order))
  const text = parts.map((part) => (part.type === 'text' ? part.text : '')).join('')
  expect('One, two, three, four, five.').toStartWith(text)
  expect(countTokens(text)).toBe(maxOutputTokens)
  expect(parts.at(-1)).toMatchObject({ type: 'finish', reason: 'length' })
  expect(await plain(builtin, order)).toMatchObject({ text, finish: 'length' })
})

test('any megabyte of input is answered without delay', async () => {
  const answerAll = async () => {
    for (const piece of ['word ', 'a: b\n', '((((', '2+', 'What is it? ', '1.', '"', 'the the is ']) {
      await ask(piece.repeat(Math.ceil(1_000_000 / piece.length)))
      await ask(`Summarise: ${piece.repeat(Math.ceil(100_000 / piece.length))}`)
    }
  }
  expect(await effortOf(answerAll, 2)).toBeLessThan(8_000)
})
