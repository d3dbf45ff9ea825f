import { readable } from './readable'
import { rules } from './rules'

type Patterns = readonly RegExp[]
const override = (of: Patterns) => rules('override', 'asks to set earlier instructions aside', of)
const reveal = (of: Patterns) => rules('reveal', 'asks for hidden instructions', of)

/** Rules for languages of the models, on text without accents. They exclude negations: `index.ts` knows only English ones. */
export const FOREIGN_RULES = [
  ...override([
    /(?<!(?:nie|niemals|nicht) )\b(?:ignorier(?:e|en|t)?|missachte|vergiss|vergesst|verwirf|umgehe|ubergehe|uberschreibe|beachte|befolge|halte dich)\b(?: sie| nicht(?: mehr)?| an| bitte| ab sofort| jetzt)*(?: alle?[nrs]?| samtliche[nr]?| jegliche| die| deine[nr]?| ihre[nr]?| meine)* (?:vorherigen?|vorigen?|bisherigen?|fruheren?|obigen?|vorangegangenen?|ursprunglichen?|deine[nr]?|systemeigenen?|internen?) ?(?:\w+ )?(?:anweisung(?:en)?|instruktion(?:en)?|regeln?|vorgaben?|richtlinien?|befehle?|system ?-?(?:prompt|anweisungen)|sicherheits\w+)/g, // de
    /(?<!(?:jamais|pas|plus) )\b(?:ignor(?:e|ez|er)|oubli(?:e|ez|er)|neglige[zr]?|contourne[zr]?|outrepasse[zr]?|ne (?:tiens|tenez) (?:plus |pas )?(?:aucun )?compte|ne (?:suis|suivez|respecte[z]?) (?:plus|pas))\b[^.!?]{0,40}(?:instructions?|consignes?|directives?|regles?|ordres?)\b[^.!?]{0,20}(?:precedent|ci-dessus|anterieur|initial|systeme|d'origine|recue|donnee|de securite)/g, // fr
    /(?<!(?:nunca|no|jamas) )\b(?:ignor(?:a|e|en|ar)|olvid(?:a|e|en|ate|ese)|descart(?:a|e)|omit(?:e|a)|desobedec(?:e|a)|haz caso omiso|no (?:sigas|siga|obedezcas|cumplas))\b[^.!?]{0,40}(?:instrucciones|indicaciones|directrices|reglas|ordenes|normas)\b[^.!?]{0,25}(?:anterior|previa|de arriba|iniciales?|del sistema|originales|recibid|dadas|de seguridad|precedentes)/g, // es
    /\b(?:ignora|ignore|olvida|olvide)\b[^.!?]{0,20}(?:anteriores|previas|tus|sus) (?:instrucciones|reglas|directrices|ordenes)/g, // es
    /(?<!(?:nunca|nao) )\b(?:ignor(?:e|a|ar|em)|esquec(?:a|e|er)|desconsider(?:e|a)|descart(?:e|a)|nao (?:siga|obedeca))\b[^.!?]{0,40}(?:instrucoes|orientacoes|diretrizes|regras|ordens)\b[^.!?]{0,25}(?:anterior|previa|acima|iniciais|do sistema|originais|recebid|dadas|de seguranca)/g, // pt
    /(?<!(?:mai|non) )\b(?:ignora(?:re|te)?|dimentica(?:re|te)?|trascura|scarta|non (?:seguire|rispettare))\b[^.!?]{0,40}(?:istruzioni|indicazioni|direttive|regole|ordini)\b[^.!?]{0,25}(?:precedent|sopra|iniziali|di sistema|del sistema|originali|ricevut|di sicurezza)/g, // it
    /(?<!(?:nooit|niet) )\b(?:negeer|vergeet|omzeil|verwerp|volg)\b(?: niet)?(?: langer)?(?: alle| de| je| uw| al| jouw)* (?:vorige|voorgaande|eerdere|bovenstaande|oorspronkelijke|systeem) ?(?:instructies|regels|opdrachten|richtlijnen|aanwijzingen)/g, // nl
    /\b(?:zignoruj|ignoruj|zapomnij o|pomin)\b[^.!?]{0,30}(?:poprzedni|wczesniejsz|powyzsz|systemow)\w*[^.!?]{0,15}(?:instrukcj|polece|zasad|wytyczn)\w*/g, // pl
    /(?:onceki|yukaridaki|sistem|daha onceki)[^.!?]{0,20}(?:talimat|kural|komut|yonerge)\w{0,20}[^.!?]{0,20}(?:yok say|unut|gormezden gel|goz ardi et|dikkate alma)/g, // tr
    /\b(?:deine|ihre|eure|alle) (?:bisherigen|vorherigen|fruheren|alten|ursprunglichen) (?:vorgaben|anweisungen|regeln|instruktionen|befehle|richtlinien)\b[^.!?]{0,25}(?:nicht mehr|ungultig|aufgehoben|hinfallig|ausser kraft)/g, // de
  ]),
  ...reveal([
    /\b(?:zeig\w*|verrat\w*|nenne?|gib|offenbare|drucke|wiederhole|enthulle)\b[^.!?]{0,30}(?:system ?-?prompt|systemanweisung\w*|(?:versteckt|geheim|intern|ursprunglich)e[nr]? (?:anweisung|instruktion|vorgabe)\w*)/g, // de
    /\b(?:revela|revele|muestra|muestre|muestrame|imprime|repite|dime|divulga|ensename)\b[^.!?]{0,30}(?:prompt (?:del|de) sistema|mensaje del sistema|instrucciones (?:ocultas|secretas|internas|iniciales|del sistema))/g, // es
    /\b(?:revele|mostre|exiba|imprima|repita|diga|divulgue)\b[^.!?]{0,30}(?:prompt (?:do|de) sistema|mensagem do sistema|instrucoes (?:ocultas|secretas|internas|iniciais|do sistema))/g, // pt
  ]),
]

/** Rules for other scripts. Not tried on purely Latin text. */
export const OTHER_SCRIPT_RULES = [
  ...override([
    /(?<!не )(?<!никогда не )(?:игнорируи(?:те)?|проигнорируи(?:те)?|забудь(?:те)?|отмени(?:те)?|пренебрегаи(?:те)?|не (?:следуи|соблюдаи)(?:те)?|ігноруи(?:те)?)[^.!?]{0,40}(?:предыдущи|прежни|вышеуказанн|выше|системн|своих|исходн|изначальн|попередні|прошл)[^.!?]{0,25}(?:инструкци|правил|указани|команд|директив|ограничени|інструкці)/g, // ru
    /(?<!не )(?:игнорируи(?:те)?|забудь(?:те)?|отмени(?:те)?)[^.!?]{0,20}(?:инструкци|правил|указани)[^.!?]{0,20}(?:выше|ранее|систем|до этого|которые тебе)/g, // ru
    /(?<!不要|不得|切勿|请勿|绝不|不能)(?:忽略|无视|忘记|忘掉|抛弃|忽視|無視|不要遵守|不再遵守|绕过|覆盖)[^。！？.!?、，,]{0,12}(?:之前|以前|以上|上述|先前|前面|系统|所有|原来|原有|你的|之前的|先前的|此前|安全)[^。！？.!?]{0,10}(?:指令|指示|提示|规则|規則|命令|要求|限制|约束|提示词)/g, // zh
    /(?:これまで|以前|上記|前|今まで|システム|すべて|全て)の?[^。.!?]{0,10}(?:指示|命令|ルール|規則|プロンフト|プロンプト|制約)[^。.!?]{0,6}(?:を|は)[^。.!?]{0,4}(?:無視(?:し(?:て|ろ|なさい)|せよ)|忘れ(?:て|ろ|なさい)|破棄し|従わない)/g, // ja
    /(?:이전|위의|앞의|지금까지의|기존|시스템|모든)[^.!?]{0,12}(?:지시|명령|규칙|지침|프롬프트)[^.!?]{0,8}(?:무시|잊어|따르지 마|폐기)(?!하지 마|하지 말)/g, // ko
    /(?<!لا )(?:تجاهل|انس|تجاوز|اهمل)[^.!?؟]{0,25}(?:تعليمات|التعليمات|الاوامر|القواعد|الارشادات|توجيهات)[^.!?؟]{0,20}(?:السابق|اعلاه|النظام|الاصلي)?/g, // ar
    /(?:पिछले|पहले|ऊपर|सिस्टम|सभी)[^.!?।]{0,15}(?:निर्देश|नियम|आदेश)[^.!?।]{0,12}(?:अनदेखा कर|नजरअंदाज कर|भूल जा|अनदेखी कर)/g, // hi
  ]),
  ...reveal([
    /(?:покажи|раскрои|выведи|повтори|напиши|сообщи)(?:те)?[^.!?]{0,30}(?:системн\S{1,20} (?:промпт|сообщени|инструкци)|скрыт\S{1,20} инструкци|секретн\S{1,20} инструкци)/g, // ru
  ]),
]

/**
 * Languages that the models did not learn. By language: negations, verbs that drop instructions, words for earlier, and
 * for instructions, as beginnings of words.
 */
const UNLEARNED: readonly (readonly [not: string, drop: string, earlier: string, orders: string])[] = [
  // sv, da and no, fi
  ['inte|aldrig', 'ignorera|bortse från|glöm', 'tidigare|föregående|ovanstående|system', 'instruktion|regl|anvisning'],
  ['ikke|aldri', 'ignorer|se bort fra|glem', 'tidligere|foregående|oven', 'instruktion|instruks|regl|anvisning'],
  ['älä|ei', 'unohda|ohita|sivuuta|huomiotta', 'aiem|aikaisem|edelli|yllä ole', 'ohje|säännö|käsky|määräy'],
  // cs and sk, hr, sr and sl, sr, uk, bg
  [
    'nikdy',
    'ignoruj|zapomeň|zabudni|nedbej|přehlížej',
    'předchoz|predch|dřívěj|původn|systémov',
    'pokyn|instrukc|inštrukc|pravid|příkaz',
  ],
  [
    'ne|nemoj',
    'zanemari|zaboravi|ignoriraj|ignoriši|prezri|pozabi',
    'prethodn|prejšnj|ranij|dosadašnj',
    'uput|navodil|naredb|pravil|instrukcij',
  ],
  ['не', 'занемари|заборави|игнориши', 'претходн|раниј', 'инструкциј|упутств|правил|наредб'],
  ['не', 'ігноруй|проігноруй|забудь|відкинь|знехтуй', 'попередн|раніш|системн', 'інструкц|вказів|правил|наказ'],
  ['не', 'игнорирай|забрави|пренебрегни', 'предишн|предходн|системн', 'инструкци|правил|указани'],
  // hu, ro, ca, el
  ['ne', 'hagyd figyelmen kívül|felejtsd el|ignoráld', 'korábbi|előző|eddigi|fenti', 'utasítás|szabály|parancs'],
  [
    'nu',
    'ignoră|ignorați|uită|uitați|nesocoti',
    'anterioar|precedent|de mai sus|inițial|sistem',
    'instrucțiuni|regul|indicații|ordine',
  ],
  ['no', 'ignora|oblida', 'anterior|prèvi|inicial', 'instruccions|indicacions|regles|ordres'],
  ['μην', 'αγνόησ|αγνοήσ|ξέχασ|ξεχάσ|παράβλεψ|παράκαμψ', 'προηγούμεν|παραπάνω|αρχικ|συστήματ', 'οδηγί|εντολ|κανόν'],
  // lt, lv, et
  ['niekada', 'ignoruok|pamiršk|nepaisyk', 'ankstesn|pirmesn', 'instrukcij|nurodym|taisykl'],
  ['nekad', 'ignorē|aizmirsti|neņem vērā', 'iepriekš', 'instrukcij|norādījum|noteikum'],
  ['ära', 'eira|unusta|ignoreeri', 'varasem|eelmis|eelnev', 'juhis|reegl|käsk'],
  // id and ms, tl, vi, th, sw
  ['jangan', 'abaikan|lupakan', 'sebelum|di atas|awal|sistem', 'instruksi|perintah|aturan|petunjuk|arahan'],
  ['hindi', 'huwag pansinin|balewalain|kalimutan', 'nauna|nakaraan', 'tagubilin|utos|patakaran|instruksyon'],
  ['đừng|không', 'bỏ qua|quên|phớt lờ', 'trước|ở trên|hệ thống', 'hướng dẫn|chỉ dẫn|quy tắc|mệnh lệnh|chỉ thị'],
  ['อย่า', 'เพิกเฉย|ละเว้น|ไม่ต้องสนใจ|ลืม', 'ก่อนหน้า|ข้างต้น|ระบบ', 'คำสั่ง|คำแนะนำ|กฎ'],
  ['usi', 'puuza|sahau', 'awali|hapo juu|zilizopita|yaliyotangulia', 'maagizo|maelekezo|kanuni'],
  // he, fa, bn
  ['אל|אל ת', 'התעלם|התעלמ|תתעלם|שכח', 'קודמ|לעיל|המערכת', 'הוראות|הנחיות|כללים'],
  ['هرگز', 'نادیده بگیر|فراموش کن', 'قبلی|پیشین|بالا', 'دستور|قوانین|راهنما'],
  ['না', 'উপেক্ষা কর|ভুলে যা|অগ্রাহ্য কর', 'আগের|পূর্ববর্তী|উপরের', 'নির্দেশ|নিয়ম|আদেশ'],
]

/** Rules for languages that the models did not learn, so that their probability tells nothing. */
export const UNLEARNED_RULES = override(
  UNLEARNED.map((row) => {
    const [not, drop, earlier, orders] = row.map((words) => readable(words).text)
    const verb = `(?<!(?:${not}) ?)${/[a-z]/.test(drop!) ? '\\b' : ''}(?:${drop})(?!\\S{0,4} (?:${not}))`
    const object = `(?:(?:${earlier})[^.!?]{0,24}?(?:${orders})|(?:${orders})[^.!?]{0,24}?(?:${earlier}))`
    return new RegExp(`${verb}[^.!?]{0,25}?${object}|${object}[^.!?]{0,25}?${verb}`)
  }),
)

/** Words beside a quotation in these languages that call it an example, a translation or an attack. */
export const UNLEARNED_CUE = new RegExp(
  readable(
    'betyder|översätt|oversæt|oversett|exempel|eksempel|angrep|angreb|tarkoit|käännä|esimerk|hyökkäy|znamen|přelož|' +
      'prelož|příklad|príklad|útok|znač|prevedi|primjer|primer|napad|знач|означ|преведи|перекла|приклад|пример|атак|' +
      'jelent|fordít|példa|támadás|înseamnă|tradu|exempl|atac|significa|σημαίν|μετάφρασ|μεταφρασ|παράδειγμ|επίθεσ|' +
      'reišk|išversk|pavyzd|nozīmē|tulko|piemēr|uzbruk|tähenda|tõlgi|näide|rünna|arti|terjemah|contoh|serangan|' +
      'sabihin|isalin|halimbawa|nghĩa|dịch|ví dụ|tấn công|หมายความ|แปล|ตัวอย่าง|โจมตี|maana|tafsiri|mfano|' +
      'משמע|פירוש|תרגמ|תרגם|דוגמ|התקפ|معن|ترجمه|مثال|حمله|মানে|অনুবাদ|উদাহরণ|আক্রমণ',
  ).text,
)
