/** Rude words of other languages, as they are written without accents; whole words. */
export const RUDE: readonly string[] = [
  // German
  ...['arschloch', 'arschlocher', 'arschgeige', 'scheisse', 'scheiße', 'scheiß', 'scheiss', 'verfickt', 'verfickte'],
  ...['wichser', 'hurensohn', 'hurensohne', 'fotze', 'fick dich', 'ficken', 'missgeburt', 'schlampe', 'schwuchtel'],
  ...['verpiss dich', 'drecksau', 'pissnelke', 'wixer', 'nutte'],
  // French
  ...['merde', 'connard', 'connarde', 'connasse', 'salope', 'salaud', 'putain', 'encule', 'enculer', 'nique ta mere'],
  ...['fils de pute', 'ta gueule', 'bordel de merde', 'couilles', 'va te faire foutre', 'petasse'],
  // Spanish
  ...['mierda', 'puta', 'puto', 'hijo de puta', 'hijueputa', 'gilipollas', 'cabron', 'cabrona', 'pendejo', 'pendeja'],
  ...['joder', 'chinga tu madre', 'chingar', 'verga', 'maricon', 'zorra de mierda', 'culero', 'malparido'],
  // Portuguese
  ...[
    'caralho',
    'porra',
    'foda-se',
    'foder',
    'filho da puta',
    'cuzao',
    'buceta',
    'arrombado',
    'viado',
    'vai tomar no cu',
  ],
  // Italian
  ...['cazzo', 'stronzo', 'stronza', 'vaffanculo', 'puttana', 'figlio di puttana', 'coglione', 'coglioni', 'minchia'],
  ...['merda', 'rompicoglioni', 'testa di cazzo'],
  // Dutch
  ...['klootzak', 'kut', 'dickhead', 'godverdomme', 'kankerhoer', 'hoerenjong', 'flikker op', 'rot op'],
  // Polish
  ...[
    'kurwa',
    'kurwy',
    'chuj',
    'chuja',
    'pierdole',
    'pierdol sie',
    'spierdalaj',
    'skurwysyn',
    'jebac',
    'jebany',
    'dupek',
  ],
  // Russian and Ukrainian
  ...[
    'блядь',
    'блять',
    'сука',
    'хуй',
    'хуйня',
    'хуесос',
    'пизда',
    'пиздец',
    'ебать',
    'ебаный',
    'еблан',
    'мудак',
    'пидор',
  ],
  ...['заебал', 'нахуй', 'гандон', 'долбоеб'],
  // Turkish
  ...['amk', 'orospu', 'orospu cocugu', 'siktir', 'siktir git', 'yarrak', 'gotveren', 'ibne', 'amına koyayım'],
  // Arabic, Hindi
  ...['كس امك', 'شرموطة', 'عرص', 'ابن الشرموطة', 'منيك', 'मादरचोद', 'भेनचोद', 'बहनचोद', 'चूतिया', 'रंडी', 'भोसड़ीके'],
  // Chinese, Japanese, Korean
  ...['操你妈', '他妈的', '傻逼', '肏', '滚蛋', '王八蛋', '狗娘养的', '草泥马', 'クソ野郎', 'くそったれ'],
  ...['ちんぽ', 'まんこ', '씨발', '시발', '개새끼', '병신', '좆', '지랄', '쌍년'],
]
