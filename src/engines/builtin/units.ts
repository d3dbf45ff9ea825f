import type { Skill } from './question'
import { readNumber, showNumber } from './words'

/** Units by what they measure, each with its factor to the first; of the names, the first one is shown. */
const FACTORS: Record<string, [string, number][]> = {
  length: [
    ['metres m metre meter meters', 1],
    ['kilometres km kilometre kilometer kilometers kms', 1_000],
    ['centimetres cm centimetre centimeter centimeters', 0.01],
    ['millimetres mm millimetre millimeter millimeters', 0.001],
    ['miles mi mile', 1_609.344],
    ['yards yd yard', 0.9144],
    ['feet ft foot', 0.3048],
    ['inches in inch', 0.0254],
    ['nautical-miles nmi', 1_852],
  ],
  mass: [
    ['kilograms kg kilogram kilo kilos', 1],
    ['grams g gram', 0.001],
    ['milligrams mg milligram', 0.000001],
    ['tonnes t tonne', 1_000],
    ['pounds lb lbs pound', 0.45359237],
    ['ounces oz ounce', 0.028349523125],
    ['stone st', 6.35029318],
  ],
  volume: [
    ['litres l litre liter liters', 1],
    ['millilitres ml millilitre milliliter milliliters', 0.001],
    ['gallons gal gallon', 3.785411784],
    ['pints pint', 0.473176473],
    ['cups cup', 0.2365882365],
  ],
  time: [
    ['seconds s sec secs second', 1],
    ['minutes min mins minute', 60],
    ['hours h hr hrs hour', 3_600],
    ['days d day', 86_400],
    ['weeks wk week', 604_800],
  ],
  data: [
    ['bytes b byte', 1],
    ['kilobytes kb kilobyte', 1e3],
    ['megabytes mb megabyte', 1e6],
    ['gigabytes gb gigabyte', 1e9],
    ['terabytes tb terabyte', 1e12],
    ['kibibytes kib', 1024],
    ['mebibytes mib', 1024 ** 2],
    ['gibibytes gib', 1024 ** 3],
  ],
  speed: [
    ['km/h kmh kph', 1],
    ['mph', 1.609344],
    ['m/s', 3.6],
    ['knots kn knot', 1.852],
  ],
}

const TEMPERATURES: Record<string, string> = {
  celsius: 'C',
  centigrade: 'C',
  c: 'C',
  fahrenheit: 'F',
  f: 'F',
  kelvin: 'K',
  k: 'K',
}

const UNITS = new Map<string, { measure: string; label: string; factor: number }>(
  Object.entries(FACTORS).flatMap(([measure, units]) =>
    units.flatMap(([names, factor]) => {
      const all = names.split(' ')
      return all.map((name) => [name, { measure, label: all[0]!, factor }] as const)
    }),
  ),
)

const UNIT = '(?:degrees?\\s+|°\\s*)?([a-z/-]+)'
const FORWARD = new RegExp(
  `(?<![\\d.,/])(-?[\\d.,]+|\\b[a-z-]+)\\s*${UNIT}\\s+(?:to|in|into|as)\\s+${UNIT}\\s*\\??$`,
  'i',
)
const BACKWARD = new RegExp(
  `how many\\s+${UNIT}\\s+(?:are\\s+)?(?:there\\s+)?(?:is|in|make|are)\\s+(-?[\\d.,]+|[a-z-]+)\\s*${UNIT}\\s*\\??$`,
  'i',
)

/** `Convert 5 km to miles`, `how many feet in 3 metres`, `100 °F in °C`. */
export const units: Skill = ({ prompt }) => {
  const text = prompt
    .trim()
    .replace(/[.!]$/, '')
    .replace(/(\d{1,6})['′]\s?(\d{1,6}(?:\.\d{1,6})?)["″]/g, '$1 feet $2 inches')
  const backward = BACKWARD.exec(text)
  if (backward) return convert(backward[2]!, backward[3]!, backward[1]!)
  const forward = FORWARD.exec(text)
  if (!forward) return null
  const [, amount, unit, to] = forward as unknown as [string, string, string, string]
  // `6 feet 2 inches` is one length.
  const [, larger, largerUnit] = LARGER.exec(text.slice(0, forward.index)) ?? []
  const [outer, inner] = [UNITS.get(largerUnit?.toLowerCase() ?? ''), UNITS.get(unit.toLowerCase())]
  if (!larger || !outer || outer.measure !== inner?.measure) return convert(amount, unit, to)
  const sum = Number(larger) * (outer.factor / inner.factor) + (readNumber(amount) ?? Number.NaN)
  return convert(String(Number(sum.toPrecision(12))), unit, to)
}

const LARGER = /(\d{1,9}(?:\.\d{1,9})?)\s?([a-z]{1,20})(?:,|\sand)?\s$/i

function convert(amountWord: string, fromWord: string, toWord: string): string | null {
  const amount = /^an?$/i.test(amountWord) ? 1 : readNumber(amountWord)
  if (amount === null) return null
  const heat = convertHeat(amount, TEMPERATURES[fromWord.toLowerCase()], TEMPERATURES[toWord.toLowerCase()])
  if (heat) return heat
  const [from, to] = [UNITS.get(fromWord.toLowerCase()), UNITS.get(toWord.toLowerCase())]
  if (!from || !to || from.measure !== to.measure) return null
  const result = Number(((amount * from.factor) / to.factor).toPrecision(7))
  return `${showNumber(amount)} ${from.label} = ${showNumber(result)} ${to.label}`
}

function convertHeat(amount: number, from: string | undefined, to: string | undefined): string | null {
  if (!from || !to) return null
  const celsius = from === 'C' ? amount : from === 'F' ? ((amount - 32) * 5) / 9 : amount - 273.15
  const result = to === 'C' ? celsius : to === 'F' ? (celsius * 9) / 5 + 32 : celsius + 273.15
  const shown = (unit: string) => (unit === 'K' ? ' K' : ` °${unit}`)
  return `${showNumber(amount)}${shown(from)} = ${showNumber(Number(result.toFixed(2)))}${shown(to)}`
}
