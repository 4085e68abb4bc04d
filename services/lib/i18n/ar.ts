import type { Catalogue } from "./en.ts";

export const ar: Catalogue = {
  code: "ar",
  dir: "rtl",
  unsubscribe: {
    title: "إلغاء الاشتراك",
    question: "هل لم تعد ترغب في استلام رسائل {company} على العنوان {email}؟",
    button: "إلغاء الاشتراك",
    allButton: "إلغاء الاشتراك في جميع الرسائل",
    listButton: "هذه القائمة فقط: {list}",
  },
  leftList: {
    title: "لم تعد مشتركًا في هذه القائمة",
    done: "لن ترسل {company} {list} إلى {email} بعد الآن.",
  },
  unsubscribed: {
    title: "تم إلغاء اشتراكك",
    done: "لن ترسل {company} نشرات إخبارية إلى {email} بعد الآن.",
  },
  subscribed: {
    title: "شكرًا لك",
    done: "استلمت {company} طلب اشتراكك بالعنوان {email}.",
    confirm: "بقيت خطوة واحدة: يرجى التأكيد عبر الرابط الموجود في الرسالة التي ترسلها {company} إلى {email}.",
  },
  confirm: {
    title: "تأكيد الاشتراك",
    question: "هل ترغب في استلام رسائل {company} على العنوان {email}؟",
    button: "نعم، أريد الاشتراك",
    ignore: "إذا لم تطلب ذلك، فأغلق هذه الصفحة. لن يُرسل إليك شيء.",
  },
  confirmed: {
    title: "تم تأكيد اشتراكك",
    done: "سترسل {company} رسائلها الآن إلى {email}.",
  },
  confirmationMail: {
    subject: "يرجى تأكيد اشتراكك في رسائل {company}",
    hello: "مرحبًا{name}،",
    asked: "طلب أحدهم، ونأمل أن تكون أنت، إرسال رسائل {company} إلى {email}. يرجى تأكيد رغبتك في ذلك:",
    button: "تأكيد اشتراكي",
    address: "إذا لم يعمل الزر، فافتح هذا العنوان:",
    ignore: "الرابط صالح لمدة 7 أيام. إذا لم تطلب ذلك، فلا تفعل شيئًا: لن تصلك رسائل أخرى.",
  },
  preferences: {
    title: "تفضيلات البريد الإلكتروني",
    intro: "ما ترسله {company} إلى {email}.",
    saved: "تم حفظ تفضيلاتك.",
    name: "اسمك",
    firstName: "الاسم الأول",
    lastName: "اسم العائلة",
    emails: "الرسائل",
    subscribed: "أرسلوا إليّ الرسائل",
    lists: "المواضيع",
    listsHint: "لا يُرسل إليك إلا ما تم تحديده.",
    button: "حفظ التفضيلات",
  },
  problem: {
    missingTitle: "هذه الصفحة غير موجودة",
    missing: "الرابط غير مكتمل أو لم تعد وجهته موجودة. يرجى فتح الرابط الموجود في رسالتك مرة أخرى.",
    expiredTitle: "انتهت صلاحية هذا الرابط",
    expired: "يرجى الاشتراك مرة أخرى للحصول على رابط جديد.",
  },
  mailFooter: { unsubscribe: "إلغاء الاشتراك", preferences: "التفضيلات" },
  archive: { nothing: "لم يُرسل شيء إلى هذه القائمة بعد.", newer: "الأحدث", older: "الأقدم", feed: "خلاصة RSS" },
  footer: { sentBy: "هذه الصفحة تابعة للرسائل التي ترسلها {company}." },
};
