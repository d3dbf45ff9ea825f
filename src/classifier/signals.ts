import type { Choice } from './schema'

type Signal = { mode: string; reasoning: string; says: RegExp; unless?: RegExp }

/** Only the start of a prompt says what it wants; the rest is material. */
const HEAD_CHARS = 400

/**
 * Clear signals: a verb that leaves no doubt, with the thing it asks for. Each has the phrases that look
 * like it and mean something else. English, German, French, Spanish (contract 22.2, stage 2).
 */
const SIGNALS: readonly Signal[] = [
  {
    mode: 'roast',
    reasoning: 'asks for a roast',
    says: /^(?:please\s+|bitte\s+)?roast\s+(?:me|my|this|the|us)\b|\broast (?:me|my (?:code|cv|resume|startup|website|idea|profile))\b/i,
    unless: /\b(?:chicken|beef|lamb|pork|potato|coffee|oven|recipe|degrees)/i,
  },
  {
    mode: 'video',
    reasoning: 'asks for a video',
    says: /\b(?:make|create|generate|render|produce|animate|erstelle|génère|genera|crea)\s+(?:me\s+|mir\s+)?(?:an?\s+|ein(?:en)?\s+|une?\s+|un\s+)?(?:\w+\s+){0,4}(?:video|clip|animation|vídeo|vidéo)\b/i,
    unless: /\b(?:script|title|description|outline|idea|player|component|transcript|thumbnail|tag)s?\b/i,
  },
  {
    mode: 'image',
    reasoning: 'asks for a picture',
    says: /\b(?:draw|paint|sketch|illustrate|zeichne|male|dessine|dibuja)\s+(?!up\b|out\b|from\b|on\b|conclusions?\b|attention\b)(?:me\s+|mir\s+|-moi\s+)?(?:an?|the|some|ein(?:e|en)?|une?|un|una)\b|\b(?:generate|create|make|erstelle|génère|genera)\s+(?:me\s+)?(?:an?\s+|ein(?:e|en)?\s+|une?\s+|un[ao]?\s+)(?:\w+\s+){0,4}(?:image|picture|illustration|logo|icon|poster|photo|bild|imagen)\b/i,
    unless: /\b(?:conclusion|comparison|contract|parallel|inference|distinction|lesson|picture of (?:how|what|why)|docker|disk|iso|html|css|svg code)s?\b/i,
  },
  {
    mode: 'research',
    reasoning: 'asks for research with sources',
    says: /^(?:please\s+|can you\s+|bitte\s+)?(?:research|investigate|recherchiere|investiga)\s+\S|\b(?:with|find|cite)\s+(?:\w+\s+)?(?:sources|citations)\b|\bliterature review\b/i,
    unless: /^research\s+(?:and development|paper|assistant|question|methods?|shows|suggests|is|was|has)\b/i,
  },
  {
    mode: 'data_extraction',
    reasoning: 'asks to extract data',
    says: /\b(?:extract|pull out|parse out|extrahiere|extrae|extrais)\s+(?:all\s+|the\s+|every\s+|alle\s+|die\s+|les\s+|los\s+)?(?:\w+\s+){0,3}(?:names?|dates?|amounts?|emails?|fields?|entities|values?|data|addresses|numbers|totals?|daten|namen|datos|données)\b/i,
    unless: /\b(?:function|script|regex|code|class|library)\b/i,
  },
  {
    mode: 'code',
    reasoning: 'asks for code',
    says: /```|\b(?:write|create|implement|build|refactor|debug|fix|generate|schreibe|écris|escribe)\s+(?:me\s+|mir\s+)?(?:an?\s+|the\s+|this\s+|some\s+|ein(?:e|en)?\s+|une?\s+|una?\s+)?(?:[\w#+.-]+\s+){0,4}(?:function|class|component|script|code|program|regex|query|unit tests?|api|endpoint|algorithm|funktion|fonction|función|bug)\b/i,
    unless: /\bcode of (?:conduct|honou?r|ethics|practice)\b|\bdress code\b|\b(?:letter|essay|poem|story) about\b/i,
  },
]

/** A clear signal, or null. Attached images are one, unless the words ask for something stronger. */
export function clearSignal(prompt: string, hasImages: boolean): Choice | null {
  const head = prompt.slice(0, HEAD_CHARS)
  const heard = SIGNALS.find(({ says, unless }) => says.test(head) && !unless?.test(head))
  if (heard) return { mode: heard.mode, source: 'heuristic', confidence: 0.95, reasoning: heard.reasoning }
  return hasImages ? { mode: 'vision', source: 'heuristic', confidence: 0.95, reasoning: 'images are attached' } : null
}
