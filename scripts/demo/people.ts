/** Names for the demo's subscribers in their own script, with a Latin spelling for the address. */
export interface Language {
  code: string;
  greeting: string;
  headline: string;
  domains: string[];
  cities: string[];
  /** "native" or "native=latin", separated by spaces. */
  first: string;
  last: string;
}

export const languages: Language[] = [
  {
    code: "en",
    greeting: "Hello",
    headline: "six books for long evenings",
    domains: ["mail.example.com", "inbox.example.org", "post.example.net"],
    cities: ["Leeds", "Chicago", "Toronto", "Cork", "Wellington", "Cape Town"],
    first: "Amelia Oliver Grace Noah Chloe Liam Ruby Ethan Zoe Aidan Nora Caleb Priya Dylan Tessa Kwame Hazel Rory",
    last: "Walker Okafor Bennett Murphy Patel Sinclair Hughes Nguyen O'Connor Fraser Kelly Adeyemi Turner Novak Reid",
  },
  {
    code: "de",
    greeting: "Guten Tag",
    headline: "sechs Bücher für lange Abende",
    domains: ["post.example.com", "brief.example.org"],
    cities: ["Köln", "Graz", "Zürich", "Lübeck", "Görlitz", "Würzburg"],
    first:
      "Anneliese Jürgen Käthe Björn Hannah Günther Ömer Lieselotte Jörg Franziska Sören Ayşe Matthäus Heike Uwe Nele",
    last: "Müller Schröder Weiß Groß Königsberger Yılmaz Böhm Jäger Straßer Krämer Lüders Vogt Özdemir Brünner Zöllner",
  },
  {
    code: "fr",
    greeting: "Bonjour",
    headline: "six livres pour les longues soirées",
    domains: ["courrier.example.com", "lettre.example.net"],
    cities: ["Besançon", "Orléans", "Liège", "Québec", "Genève", "Fort-de-France"],
    first: "Élodie François Chloé Zoë Jérôme Aïcha Gaël Noémie Loïc Agnès Cédric Maëlle Théo Françoise Benoît Inès",
    last: "Lefèvre Gauthier D'Aubigné Béranger Côté Hernández Mbappé Désiré Noël Château Lemaître Duchêne Traoré Faÿ",
  },
  {
    code: "es",
    greeting: "Hola",
    headline: "seis libros para noches largas",
    domains: ["correo.example.com", "buzon.example.org"],
    cities: ["Málaga", "Bogotá", "Córdoba", "A Coruña", "Mérida", "Asunción"],
    first: "Begoña José Íñigo Lucía Álvaro Inés Raúl Sofía Ángel Núria Martín Concepción Óscar Ximena Joaquín Belén",
    last: "Núñez García Ibáñez Muñoz Peña Güemes Rodríguez Zárate Etxeberria Castaño Vázquez Piñeiro Agüero León Cañas",
  },
  {
    code: "pl",
    greeting: "Dzień dobry",
    headline: "sześć książek na długie wieczory",
    domains: ["poczta.example.com", "listy.example.net"],
    cities: ["Łódź", "Gdańsk", "Kraków", "Wrocław", "Białystok", "Rzeszów"],
    first:
      "Łukasz Małgorzata Paweł Żaneta Zdzisław Agnieszka Błażej Elżbieta Michał Róża Wojciech Bożena Sławomir Kinga",
    last: "Wójcik Błaszczyk Żurawski Dąbrowska Jabłoński Świątek Gołębiewski Łęcka Źrebiec Maćkowiak Ząbek Ćwikła Pająk",
  },
  {
    code: "el",
    greeting: "Καλημέρα",
    headline: "έξι βιβλία για μεγάλα βράδια",
    domains: ["tachydromeio.example.com", "grammata.example.org"],
    cities: ["Αθήνα", "Θεσσαλονίκη", "Πάτρα", "Ηράκλειο", "Λευκωσία", "Ιωάννινα"],
    first:
      "Ελένη=eleni Γιώργος=giorgos Κατερίνα=katerina Δημήτρης=dimitris Σοφία=sofia Νίκος=nikos Ιωάννα=ioanna Κώστας=kostas Μαρία=maria Σπύρος=spyros Φωτεινή=foteini Θανάσης=thanasis",
    last: "Παπαδόπουλος=papadopoulos Οικονόμου=oikonomou Γεωργίου=georgiou Καραγιάννη=karagianni Βασιλείου=vasileiou Αλεξίου=alexiou Μακρής=makris Ιωαννίδης=ioannidis Σταύρου=stavrou Λάμπρου=lamprou",
  },
  {
    code: "ar",
    greeting: "مرحبا",
    headline: "ستة كتب لأمسيات طويلة",
    domains: ["barid.example.com", "rasail.example.net"],
    cities: ["القاهرة", "الرباط", "عمّان", "بيروت", "تونس", "مسقط"],
    first:
      "فاطمة=fatima محمد=mohammed ليلى=layla يوسف=youssef زينب=zaynab كريم=karim نور=nour عمر=omar سلمى=salma طارق=tariq هدى=huda سامي=sami",
    last: "الحسن=alhassan منصور=mansour النجار=alnajjar حداد=haddad الشامي=alshami صالح=saleh بنعلي=benali العلوي=alalawi خليل=khalil درويش=darwish",
  },
  {
    code: "ja",
    greeting: "こんにちは",
    headline: "夜長に読みたい六冊",
    domains: ["yubin.example.com", "tegami.example.org"],
    cities: ["札幌市", "金沢市", "神戸市", "那覇市", "横浜市", "仙台市"],
    first:
      "美咲=misaki 翔太=shota さくら=sakura 健一=kenichi 陽菜=hina 大輔=daisuke 結衣=yui 拓海=takumi あかり=akari 直樹=naoki 千尋=chihiro 蓮=ren",
    last: "佐藤=sato 鈴木=suzuki 高橋=takahashi 渡邉=watanabe 小林=kobayashi 齋藤=saito 山田=yamada 髙木=takagi 中村=nakamura 森=mori",
  },
  {
    code: "zh",
    greeting: "您好",
    headline: "长夜里的六本书",
    domains: ["youjian.example.com", "shuxin.example.net"],
    cities: ["成都", "杭州", "臺北", "新加坡", "廈門", "西安"],
    first:
      "秀英=xiuying 伟=wei 雨桐=yutong 志強=zhiqiang 丽华=lihua 子涵=zihan 建国=jianguo 靜怡=jingyi 浩然=haoran 梓萱=zixuan 明哲=mingzhe 欣妍=xinyan",
    last: "王=wang 李=li 張=zhang 刘=liu 陳=chen 杨=yang 黃=huang 赵=zhao 吳=wu 欧阳=ouyang",
  },
  {
    code: "ko",
    greeting: "안녕하세요",
    headline: "긴 밤을 위한 책 여섯 권",
    domains: ["upyeon.example.com", "pyeonji.example.org"],
    cities: ["부산", "대전", "전주", "광주", "제주", "인천"],
    first:
      "지민=jimin 서연=seoyeon 민준=minjun 하은=haeun 도윤=doyun 수빈=subin 예준=yejun 지우=jiwoo 현우=hyunwoo 은지=eunji 태양=taeyang 유나=yuna",
    last: "김=kim 이=lee 박=park 최=choi 정=jung 강=kang 조=cho 윤=yoon 장=jang 황보=hwangbo",
  },
];
