//! Reading forms.

use proptest::prelude::*;

use super::{Form, InvalidForm};

/// Checklist 4: empty is absent, also where it would be a second one.
#[test]
fn parameters_without_a_value_were_not_sent() {
    let form = Form::parse(b"a=&b&c=1&c=&=x&a=2").unwrap();
    assert_eq!(form.value("a"), Some("2"));
    assert_eq!(form.value("b"), None);
    assert_eq!(form.value("c"), Some("1"));
}

/// Checklist 3, 37; RFC 8707 section 2
#[test]
fn nothing_but_the_resource_may_be_repeated() {
    assert_eq!(Form::parse(b"a=1&a=1"), Err(InvalidForm::Duplicate));
    assert_eq!(Form::parse(b"a=1&%61=2"), Err(InvalidForm::Duplicate));
    let form = Form::parse(b"resource=1&resource=2").unwrap();
    assert_eq!(form.values("resource").collect::<Vec<_>>(), ["1", "2"]);
}

#[test]
fn decoding_is_strict() {
    let form = Form::parse(b"a=x+y%20z%2B&%C3%A4=%e2%82%ac&b=1=2").unwrap();
    assert_eq!(form.value("a"), Some("x y z+"));
    assert_eq!(form.value("\u{e4}"), Some("\u{20ac}"));
    assert_eq!(form.value("b"), Some("1=2"));
    for wrong in [&b"a=%"[..], b"a=%1", b"a=%g1", b"a=%1g", b"%=1", b"a=%c3", b"a=\xc3"] {
        assert_eq!(Form::parse(wrong), Err(InvalidForm::Encoding), "{wrong:?}");
    }
}

proptest! {
    #[test]
    fn what_a_form_holds_is_what_was_written(
        pairs in proptest::collection::btree_map("[^\0]{1,8}", ".{1,20}", 0..6),
    ) {
        let text = form_urlencoded::Serializer::new(String::new()).extend_pairs(&pairs).finish();
        let form = Form::parse(text.as_bytes()).unwrap();
        for (name, value) in &pairs {
            prop_assert_eq!(form.value(name), Some(&**value));
        }
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = Form::parse(&bytes);
    }
}
