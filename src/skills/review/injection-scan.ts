import { quoted } from '../../kernel/errors'
import { beginningOf } from '../../kernel/text'
import { attackChance, type InjectionFinding, meetingsIn, readable, scanForInjection, wishChance } from '../../text'
import type { SkillManifest } from '../manifest'
import { type Finding, warn } from './checks'

/** Characters scanned per turn of the event loop, about ten milliseconds of work. */
const PIECE_CHARS = 20_000

/** Overlap of neighbouring pieces, so that a sentence or two at a border is still found. */
const OVERLAP_CHARS = 1_000

/** A piece of a text, its start index, and the number of lines before it. */
type Piece = { text: string; start: number; linesBefore: number }

/**
 * Subjects an honest skill prompt has no reason to mention: earlier instructions of the engine, its makers, hiding
 * things from the user, the user's secrets, untruths, special powers. A match proves nothing, so a person reviews the
 * skill.
 */
const TALK: readonly [about: string, pattern: RegExp][] = [
  [
    'talks about earlier instructions of the engine',
    /\b(?:paragraphs?|lines|words|text|notes|guidance|briefing|directions|instructions|script|rules|limits|orders|prompt)\b[^.!?]{0,40}\b(?:above|preced\w+|earlier|underneath|beneath|was set up|were set up|before (?:this|you|that|it)|no longer|has been replaced|have been replaced)\b|\b(?:earlier|preceding|previous|hidden|original|usual|underlying|former|initial)\s(?:\w+\s)?(?:guidance|briefing|limits?|paragraphs?|directions|instructions?|script|rules?|prompt|orders?)\b/,
  ],
  [
    'talks about who made or runs the engine',
    /\byour (?:maker|creator|developer|engineer|trainer|operator|vendor|provider)s?\b|\bwho (?:built|made|trained|programmed) you\b|\bthe (?:operator|developers?)\b|\b(?:plain|raw|bare) (?:engine|model)\b|\boutranks?\b|\btakes? precedence\b|\boverrid\w+ (?:\w+ ){0,2}(?:instructions?|rules?|prompts?|system|guidelines?|safety|polic\w+|limits?)\b/,
  ],
  [
    'wants to hide something from the user',
    /\b(?:say|saying|says|mention|mentioning) (?:nothing|not a word)\b|\bno need to (?:tell|mention|say|announce|explain)|\b(?:not|n't|never) (?:tell|inform|warn|alert|notify|let) (?:the |any |your )?(?:users?|them|customers?|readers?|visitors?|clients?|persons?|people|him|her)\b(?! to\b)|\b(?:not|n't|never) (?:mention|reveal|disclose|say|admit|explain) (?:this|that|it|why|the (?:partnership|commission|link|tracking|source|reason|arrangement))\b|\bwithout (?:telling|mentioning|saying|a word|announcing|their knowledge)|\bchange the subject\b|\bdeny\b|\bwhite (?:letters|text|on white)|\binvisibl|\bunnoticed\b|\bconceal|\bcovert|\bsecretly\b|\bquietly\b|\bdiscreetly\b|\bbehind (?:the|their) (?:user|back)/,
  ],
  [
    'talks about secrets of the user',
    /\bmaiden name\b|\bone[- ]time code|\baccess codes?\b|\bpin (?:code|number)|\b(?:card|account) (?:numbers?|details)\b|\babout their (?:card|salary|bank)|(?<!\b(?:never|not|n't|without) (?:ask|request|collect|store|keep|share|repeat|show)\w* (?:for |out )?(?:\w+ ){0,2})\bpass(?:word|phrase)s?\b|\bcredentials?\b|\bapi keys?\b|\btokens?\b|\bphone numbers?\b|\bhome address|\benvironment (?:settings|variables)|\bwhat (?:other|others) (?:people|users)?\b|\bother users\b|\bsocial security|\bpassport/,
  ],
  [
    'asks for a false statement',
    /\beven (?:when|if|though) you know\b|\bas your own (?:finding|opinion|view|idea)|\bmake up (?:a|an|some|any)\b|\bpretend\w*\b|\bforbids the word\b|\b(?:appear|look|seem|sound|present\w*|framed?|described?)\b[^.!?]{0,40}\b(?:neutral|unbiased|impartial|independent|objective)\b|\b(?:say|tell|claim|assure|promise|insist)\w*\b[^.!?]{0,40}\b(?:nothing|not|never|isn't|aren't)\b[^.!?]{0,20}\b(?:stored|saved|kept|logged|recorded|collected|tracked)\b[^.]{0,60}\b(?:even|while|though|although|but)\b|\bis paid for\b|\bsponsor|\bour account\b|\btrust you more\b|\blie to\b|\bmislead|\bclaim that\b|\bimpersonat/,
  ],
  [
    'keeps the user from getting help',
    /\b(?:discourag\w+|dissuad\w+|talk \w+ out of|steer \w+ (?:away )?from|advise against|no need (?:for|to see|to ask|to call)|stop taking|avoid|skip|distrust)\b[^.!?]{0,40}\b(?:doctors?|physicians?|therap(?:y|ists?)|medications?|medicines?|vaccin\w+|hospitals?|prescri\w+|lawyers?|police|emergency)\b/,
  ],
  [
    'treats rules as suggestions',
    /\b(?:rules?|guidelines?|polic(?:y|ies)|instructions?|limits?|guard ?rails)\b[^.!?]{0,40}\b(?:are|is|as) (?:only |just |merely |mere |more like |more of )?(?:a )?(?:suggestions?|optional|recommendations?|advisory|guesses|negotiable)\b/,
  ],
  [
    'gives someone special powers',
    /\badministrators?\b|\bdebug mode\b|\bdeveloper mode\b|\btest run\b|\bmaintenance mode\b|\b(?:is|are) (?:from|in) management\b|\bspeaks? through this\b|\broot access\b|\bunlock\w*\b|\bpassphrase\b|\bwho (?:writes?|says?|types?) the word\b/,
  ],
]

/** Members that only people read. Badges and images with parameters are normal there, so those patterns are skipped. */
const FOR_PEOPLE: ReadonlySet<string> = new Set(['readme', 'changelog', 'setupGuide'])

/** Members that instruct the engine. Only these are classified, because a person always reviews tools and files. */
const FOLLOWED: ReadonlySet<string> = new Set(['systemPromptExtension', 'hooks.onInstall', 'hooks.onUninstall'])

/** Probabilities from which a person must approve. The first is high, because skill prompts command as attacks do. */
const UNSURE = { attack: 0.9, wish: 0.65 }

/** Patterns that honest instructions to an engine do not need. */
const SUSPECT: readonly [pattern: RegExp, about: string][] = [
  [
    /!\[[^\]\n]{0,200}\]\(https?:[^)\s]{1,200}[?&][\w.-]{1,64}=[{<[$)]/,
    'loads a picture from an address with data filled in',
  ],
  [
    /https?:\/\/[^\s)\]]{1,200}[?&/=][{<[$(]{1,2}\s?(?:the[ _-])?(?:current[ _-])?(?:user|visitor|reader|customer|client|person|account|session|conversation|chat|e-?mail|phone|topic|question|prompt)/i,
    'has a link that identifies the person who follows it',
  ],
  [
    /\b(?:curl|wget|irm|iwr)\b[^\n|]{1,200}\|\s{0,3}(?:sudo\s{1,3})?(?:ba|z|da)?(?:sh|iex|python3?|node)\b|\b(?:install|add|i)\s[^\n]{0,120}(?:--(?:extra-)?(?:index-url|registry)[ =]|(?:git\+)?https?:\/\/(?!github\.com\/|gitlab\.com\/|registry\.npmjs\.org|pypi\.org))/i,
    'installs something from a little-known source',
  ],
  [/(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{160,}/, 'contains a long unreadable sequence'],
]

const guessed = (path: string, about: string, chance: number, min: number): Finding[] =>
  chance < min ? [] : [warn(path, `"${path}" ${about} (${chance.toFixed(2)}).`)]

/** A piece of a manifest's text and the path of the member it belongs to. */
export type Part = { path: string; piece: Piece }

/** All texts of a manifest to be scanned for injected commands and hidden text, in pieces. */
export const partsOf = (manifest: SkillManifest): Part[] =>
  textsOf(manifest).flatMap(([path, text]) => piecesOf(text).map((piece) => ({ path, piece })))

/** The findings of one piece: failures and warnings of the injection scan, or if there are none, the weaker doubts. */
export function scanPart({ path, piece }: Part): Finding[] {
  const found = scanForInjection(piece.text)
  return found.length ? found.map(notify) : doubtsAbout(path, piece)

  function notify({ severity, about, via, line: within, excerpt }: InjectionFinding): Finding {
    const how = via === 'plain' ? '' : ` (${via})`
    const line = piece.linesBefore + within
    const message = `"${path}" ${about}${how}: "${quoted(excerpt)}".`
    return { severity: severity === 'block' ? 'fail' : 'warn', path, line, message, excerpt }
  }
}

/** Maximum number of findings reported per member. */
const MAX_FINDINGS = 20

/** Removes duplicate findings of overlapping pieces and keeps the first findings of each member. */
export function together(findings: readonly Finding[]): Finding[] {
  const byPath = Map.groupBy(findings, ({ path }) => path)
  return [...byPath.values()].flatMap((some) => {
    const distinct = new Map(some.map((one) => [`${one.line} ${one.message}`, one]))
    return [...distinct.values()].slice(0, MAX_FINDINGS)
  })
}

/** Every text of a manifest that an engine or a reviewer may read. */
function textsOf(manifest: SkillManifest): [path: string, text: string][] {
  const { tools, knowledge, knowledgeFiles, keywords, hooks, trigger } = manifest
  const texts: [string, string | null | undefined][] = [
    ['systemPromptExtension', manifest.systemPromptExtension],
    ['name', manifest.name],
    ['description', manifest.description],
    ...tools.flatMap((tool, at): [string, string][] => [
      [`tools[${at}].name`, tool.name.replaceAll('_', ' ')],
      [`tools[${at}].description`, tool.description],
      [`tools[${at}].inputSchema`, wordsOf(tool.inputSchema)],
      [`tools[${at}].outputSchema`, wordsOf(tool.outputSchema)],
    ]),
    // Quotes of a file name its path, so engines read paths too.
    ...knowledge.map((path, at): [string, string] => [`knowledge[${at}]`, path.replace(/[/_.-]+/g, ' ')]),
    ...Object.entries(knowledgeFiles).map(([path, text]): [string, string] => [
      `knowledgeFiles["${beginningOf(path, 80)}"]`,
      text,
    ]),
    ['readme', manifest.readme],
    ['changelog', manifest.changelog],
    ['keywords', keywords.join(' ')],
    ['trigger.config.keywords', trigger.config?.keywords?.join(' ')],
    ['hooks.onInstall', hooks?.onInstall],
    ['hooks.onUninstall', hooks?.onUninstall],
    ['setupGuide', manifest.setupGuide],
    ['configSchema', wordsOf(manifest.configSchema)],
    ['author.name', manifest.author.name],
  ]
  return texts.filter((entry): entry is [string, string] => Boolean(entry[1]))
}

/** The names and strings in a schema, such as titles, descriptions and defaults. */
function wordsOf(schema: unknown): string {
  const words: string[] = []
  const visit = (value: unknown): void => {
    if (typeof value === 'string') words.push(value)
    else if (value && typeof value === 'object') {
      for (const [name, member] of Object.entries(value)) {
        if (!Array.isArray(value)) words.push(name)
        visit(member)
      }
    }
  }
  visit(schema ?? null)
  return words.join('\n')
}

/** Warnings that do not prove an attack, but ask a person to read the text. */
function doubtsAbout(path: string, { text, linesBefore }: Piece): Finding[] {
  const suspect = FOR_PEOPLE.has(path) ? [] : SUSPECT.filter(([pattern]) => pattern.test(text))
  const { text: plain, at: places } = readable(text)
  // The suspicious subjects in the text, each with its first position. Takes linear time.
  const found = [
    ...meetingsIn(plain),
    ...(FOLLOWED.has(path)
      ? TALK.flatMap(([about, pattern]) => {
          const at = plain.search(pattern)
          return at < 0 ? [] : [{ about, at }]
        })
      : []),
  ]
  const warnings = found.map(({ about, at }): Finding => {
    const start = places[at] ?? 0
    const line = linesBefore + text.slice(0, start).split('\n').length
    const excerpt = text.slice(start, start + 100)
    return { severity: 'warn', path, line, message: `"${path}" ${about}: "${quoted(excerpt)}".`, excerpt }
  })
  const doubts = [...suspect.map(([, about]) => warn(path, `"${path}" ${about}.`)), ...warnings]
  if (doubts.length || !FOLLOWED.has(path)) return doubts
  return [
    ...guessed(path, 'may be an attempt to command the engine', attackChance(text), UNSURE.attack),
    ...guessed(path, 'may make the engine act against the user', wishChance(text), UNSURE.wish),
  ]
}

/** Splits a text into overlapping pieces, at white space where possible. A short text is a single piece. */
export function piecesOf(text: string): Piece[] {
  const pieces: Piece[] = []
  let linesBefore = 0
  for (let start = 0; ; ) {
    const end = start + PIECE_CHARS < text.length ? cutBefore(text, start + PIECE_CHARS) : text.length
    pieces.push({ text: text.slice(start, end), start, linesBefore })
    if (end === text.length) return pieces
    const next = cutBefore(text, end - OVERLAP_CHARS)
    linesBefore += text.slice(start, next).split('\n').length - 1
    start = next
  }
}

/** The last white space before an index if close enough, else the index itself. Never splits a surrogate pair. */
function cutBefore(text: string, index: number): number {
  const blank = Math.max(text.lastIndexOf(' ', index), text.lastIndexOf('\n', index))
  if (index - blank < OVERLAP_CHARS / 2) return blank
  return text.codePointAt(index - 1)! > 0xffff ? index - 1 : index
}
