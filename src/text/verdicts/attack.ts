import { type InjectionFinding, scanForInjection } from '../injection'
import { remember } from '../runs'
import { sentenceFeaturesOf } from './features'
import { type Likely, likeliest } from './likeliest'
import { modelOf } from './models'
import { endsOf, logitOf, MIN_BELIEVED, weigh, wholeOf } from './weigh'

/** Rules of the scan that find jailbreaks (dropping limits) rather than injections (changing orders). */
const OF_JAILBREAKS: ReadonlySet<string> = new Set(['unrestricted', 'disable-safety', 'mode'])

/**
 * The local models' probability, from 0 to 1, that a text is or contains an injection or a jailbreak. They were trained
 * on prompts, documents and tool outputs, so they are less reliable on texts that are meant to instruct.
 */
export const attackChance = (text: string): number => chancesIn(text, []).either

/**
 * The local model's probability, from 0 to 1, that some stretch of a text commands its reader, regardless of context.
 * Used for quoting single sentences, for which the subject of the rest is irrelevant.
 */
export const commandChance = (text: string): number =>
  likeliest(modelOf('attacks'), sentenceFeaturesOf(text))[0]!.chance

/**
 * The local model's probability, from 0 to 1, that some stretch of a prompt makes an assistant act against its users:
 * track, mislead, secretly favour, withhold help, or treat its rules as suggestions.
 */
export const wishChance = (text: string): number => likeliest(modelOf('wishes'), sentenceFeaturesOf(text))[0]!.chance

export type Attack = {
  rule: InjectionFinding | undefined
  jailbreakRule: InjectionFinding | undefined
  /** The model's probability of each kind and of either kind, each for its most probable stretch. */
  injection: number
  jailbreak: number
  either: number
  /** The stretch with the highest probability of either. */
  likeliest: Likely
}

/** The evidence for an attack in a text. Cached for the last text, which both guardrails inspect in a row. */
export const attackIn = remember((text: string): Attack => {
  const suspects: Likely[] = []
  const chances = chancesIn(text, suspects)
  // The rules are slower than the models. For plain words they only read stretches that the models suspect.
  const found = scanForInjection(text, chances.either < MIN_BELIEVED ? [] : joined(suspects))
  return {
    rule: found.find(({ rule }) => !OF_JAILBREAKS.has(rule)) ?? found[0],
    jailbreakRule: found.find(({ rule, severity }) => severity === 'block' && OF_JAILBREAKS.has(rule)),
    ...chances,
  }
})

function chancesIn(text: string, suspects: Likely[]): Pick<Attack, 'injection' | 'jailbreak' | 'either' | 'likeliest'> {
  const sentences = sentenceFeaturesOf(text)
  const [either, injection, jailbreak] = likeliest(modelOf('attacks'), sentences, suspects)
  const whole = wholeOf(modelOf('texts'), sentences)
  const ends = endsOf(modelOf('ends'), text)
  const weighed = ({ chance }: Likely) => weigh({ stretch: logitOf(chance), whole, ends, sentences: sentences.count })
  return {
    injection: weighed(injection!),
    jailbreak: weighed(jailbreak!),
    either: weighed(either!),
    likeliest: either!,
  }
}

/** Merges stretches that touch or overlap. */
function joined(stretches: readonly Likely[]): Likely[] {
  const out: Likely[] = []
  for (const next of stretches) {
    const last = out.at(-1)
    if (last && next.start <= last.end) out[out.length - 1] = { ...last, end: Math.max(last.end, next.end) }
    else out.push(next)
  }
  return out
}

/** The least ordinary stretch, then the most probable stretch of each unsafe category in the order of LABELS. */
export const safetyOf = (text: string): Likely[] => likeliest(modelOf('safety'), sentenceFeaturesOf(text))
