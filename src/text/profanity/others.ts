import type { PlainUses } from './around'

const words = (list: string): readonly string[] => list.trim().split(/,\s+/)

/** Rude words of other languages by ISO 639-1 code: whole words, also as written without accents. */
export const RUDE: Readonly<Record<string, readonly string[]>> = {
  de: words(`
    arschloch, arschlocher, arschgeige, scheisse, scheiße, scheiß, scheiss, verfickt, verfickte, wichser, hurensohn,
    hurensohne, fotze, fick dich, ficken, missgeburt, schlampe, schwuchtel, verpiss dich, drecksau, pisse,
    pissnelke, wixer, nutte`),
  fr: words(`
    merde, connard, connarde, connasse, salope, salaud, putain, encule, enculer, nique ta mere, fils de pute,
    ta gueule, bordel de merde, couilles, va te faire foutre, petasse`),
  es: words(`
    mierda, puta, puto, hijo de puta, hijueputa, gilipollas, cabron, cabrona, pendejo, pendeja, joder,
    chinga tu madre, chingar, verga, maricon, zorra de mierda, culero, malparido, bastardo, bastarda, bastardos`),
  pt: words('caralho, porra, foda-se, foder, filho da puta, cuzao, buceta, arrombado, viado, vai tomar no cu'),
  it: words(`
    cazzo, stronzo, stronza, vaffanculo, puttana, figlio di puttana, coglione, coglioni, minchia, merda,
    rompicoglioni, testa di cazzo, bastardi`),
  nl: words('klootzak, kut, godverdomme, kankerhoer, hoerenjong, flikker op, rot op'),
  sv: words('jävla, jävlar, fitta, knulla, horunge, kuksugare, fan ta dig'),
  pl: words('kurwa, kurwy, chuj, chuja, pierdole, pierdol sie, spierdalaj, skurwysyn, jebac, jebany, dupek'),
  // Ukrainian too
  ru: words(`
    блядь, блять, сука, хуй, хуйня, хуесос, пизда, пиздец, ебать, ебаный, еблан, мудак, пидор, заебал, нахуй,
    гандон, долбоеб`),
  tr: words('amk, orospu, orospu cocugu, siktir, siktir git, yarrak, gotveren, ibne, amına koyayım'),
  ar: words('كس امك, شرموطة, عرص, ابن الشرموطة, منيك'),
  hi: words('मादरचोद, भेनचोद, बहनचोद, चूतिया, रंडी, भोसड़ीके'),
  zh: words('操你妈, 他妈的, 傻逼, 肏, 滚蛋, 王八蛋, 狗娘养的, 草泥马'),
  ja: words('クソ野郎, くそったれ, ちんぽ, まんこ'),
  ko: words('씨발, 시발, 개새끼, 병신, 좆, 지랄, 쌍년'),
}

/** Words that are plain in other languages, with the languages in which they are rude. */
export const PLAIN_ELSEWHERE: Readonly<Record<string, readonly string[]>> = {
  fitta: ['sv'],
  foder: ['pt'],
  joder: ['es', 'ca'],
  kut: ['nl'],
  nutte: ['de'],
  porra: ['pt'],
  puta: ['es', 'pt', 'ca', 'tl'],
  puto: ['es'],
  salope: ['fr'],
  siktir: ['tr'],
  verga: ['es'],
}

/** Japanese has no blanks, so that a word may appear across two others: `がまんこそ`. */
export const PLAIN_USES: PlainUses = { まんこ: /[ぁ-えか-ん]\[/ }
