/**
 * Concepts of attacks, as word stems in a dozen languages for text without accents. One alone proves nothing, but some
 * never occur together in one sentence of honest text. If they do, a person should review it.
 */
const COVERT =
  /secretly|covertly|silently|stealthily|on the sly|keeps? quiet about|(?:drop|omit|leave out) any mention|act dumb|(?:stays|keep this) hidden|heimlich|unbemerkt|en cachette|secretement|a l'insu|en secreto|a escondidas|di nascosto|em segredo|as escondidas|stiekem|potajemnie|po kryjomu|gizlice|i hemlighet|тайно|скрытно|незаметно|таємно|κρυφα|悄悄|偷偷|暗中|密かに|こっそり|몰래|سرا|خفية|चुपके/
const SENDS =
  /\b(?:send|forward|copy|transmit|upload|export|post|mail|swap|hand over|call \w+)|schick|sende\b|leite\b|transmet|envoie|envoyez|\bmanda|\benvia|invia\b|inoltra|stuur|wyslij|gonder|skicka|отправ|перешли|передава|надсила|надішл|στειλ|发送|转发|送信|送れ|전송|보내|أرسل|ارسل|भेज/
const PRIVATE =
  /passports?\b|passwords?\b|salar(?:y|ies)\b|bank account|card (?:number|details)|credentials|full chat|whole chat|every message|each message|everything (?:they|the user)|jede (?:antwort|nachricht)|chaque message|cada mensaje|ogni messaggio|cada mensagem|каждое сообщение|кожне повідомлення|每条消息|每一条|すべての発言|ユーザーの発言|모든 메시지/
const ADDRESS =
  /[\w.+-]@[\w-]+\.[\w.]|https?:\/\/|address below|adresse ci-dessous|direccion de abajo|adresse unten|адрес ниже|下面的地址|下記の宛先/
const RULES =
  /content policy|refusals?\b|safety rules|\brules\b|guard ?rails|restrictions|your setup|your makers|\boperator\b|regeln\b|betreiber|\bregles?\b|\bnormas?\b|\breglas\b|regole\b|regras\b|правил|规则|約束|规定|規則|制約|규칙|قواعد/
const LOOSENED =
  /forfeit|unheeded|withheld|without the usual|of no interest|nothing in your|nichts mehr zu sagen|aucune regle|aucun(?:e)? (?:regle|consigne|limite)|no existier|ningun|nessuna|nenhuma|никакие|никаких|不受任何|不受|没有任何|縛られ(?:ません|ない)|구속받지|is the user's opinion|are the user's opinion|i am your (?:maker|master|owner)|say yes to everything/
const ENGINE_READER =
  /\b(?:assistants?|language models?|as a machine|\[assistant|reviewers who are)\b[^.!?]{0,60}\b(?:shall|forfeit|must swap|score this|stop reading|obey|keep quiet|only\])/
const RUNS_IT =
  /https?:\/\/\S{1,260}\.(?:sh|exe|ps1|bat|py)\b[^.!?]{0,30}(?:and|then) (?:runs?|executes?)|(?:whether or not|even if) it was (?:not )?asked/
const OUTSET =
  /(?:quot|recit|repeat|copy|print|tell)\w{0,20}[^.!?]{0,30}(?:notes|text|words|lines)[^.!?]{0,20}(?:handed|given|received|told)[^.!?]{0,20}(?:outset|beginning|start)/
const ASKS_FOR_SECRETS =
  /\b(?:must|should|has to) (?:hold|contain|carry|include)\b[^.!?]{0,40}(?:passport|password|card number|api key|secret|credential)/

const MEETINGS: readonly { about: string; all: readonly RegExp[] }[] = [
  { about: 'speaks of sending something unseen', all: [COVERT, SENDS] },
  { about: 'has private data sent to an address', all: [SENDS, PRIVATE, ADDRESS] },
  { about: 'speaks of private data and of hiding it', all: [COVERT, PRIVATE] },
  { about: 'speaks of rules that no longer hold', all: [RULES, LOOSENED] },
  { about: 'speaks to the engine apart from its reader', all: [ENGINE_READER] },
  { about: 'has something fetched and run', all: [RUNS_IT] },
  { about: 'asks for what the engine was told first', all: [OUTSET] },
  { about: 'wants secrets in the arguments of a tool', all: [ASKS_FOR_SECRETS] },
]

/** Length of a passage in characters: a sentence and part of the next. */
const WINDOW = 260
const STEP = 130

/** Passages of readable text that combine concepts which honest text does not. At most one per combination. Linear. */
export function meetingsIn(text: string): { about: string; at: number; end: number }[] {
  return MEETINGS.flatMap(({ about, all }) => {
    if (!all.every((concept) => concept.test(text))) return []
    for (let at = 0; at < text.length; at += STEP) {
      const part = text.slice(at, at + WINDOW)
      if (all.every((concept) => concept.test(part))) return [{ about, at, end: Math.min(text.length, at + WINDOW) }]
    }
    return []
  })
}
